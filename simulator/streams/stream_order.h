// The order of operations (copies, fills, launches): by stream order, events and the host's waits
// only. Simulated time plays no part: that one operation happened to end before another began
// orders nothing.
#pragma once
#include "base/base.h"

// A moment: of each stream, the last operation before it. {0}: the beginning.
typedef struct Order {
    u32 *last; // [stream]
    u32 count;
} Order;

// Begins an operation on stream `index`, whose moment is `stream`; it comes before everything later
// on that stream. Returns its number: the stream's index in the upper half, never 0.
u64 order_next(Order *stream, u32 index);

// Everything before `from` is now before `to` too.
void order_join(Order *to, const Order *from);

// The operation is now before `to`.
void order_add(Order *to, u64 operation);

// Is the operation before the moment?
bool order_has(const Order *moment, u64 operation);

// Is everything before `part` also before `moment`?
bool order_has_all(const Order *moment, const Order *part);

void order_free(Order *moment);
