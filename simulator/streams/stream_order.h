// The order of operations (copies, fills, launches), which only streams, events and the host's
// waits establish. Simulated time does not: two operations are not ordered because one happened to
// end before the other began.
#pragma once
#include "base/base.h"

// A point in that order, as a vector clock: the latest operation of each stream that comes before
// it. {0}: the beginning.
typedef struct Order {
    u32 *last; // [stream]
    u32 count;
} Order;

// Begins an operation on stream `index`. `stream`: what comes before the stream's next operation,
// to which the new one is added. Returns its number, never 0, with the stream's index in the upper
// half.
u64 order_next(Order *stream, u32 index);

// Everything before `from` comes before `to` from now on.
void order_join(Order *to, const Order *from);

// The operation comes before `to` from now on.
void order_add(Order *to, u64 operation);

// Does the operation come before `moment`?
bool order_has(const Order *moment, u64 operation);

// Does everything before `part` also come before `moment`?
bool order_has_all(const Order *moment, const Order *part);

void order_free(Order *moment);
