// What comes before what among the operations on streams (copies, fills, launches): by stream
// order, events and the host's waits alone. The simulated time plays no part: that one happened to
// be over when another began orders nothing.
#pragma once
#include "base/base.h"

// A moment: for each stream the last of its operations that lie before it. {0}: the beginning.
typedef struct Order {
    u32 *last; // [stream]
    u32 count;
} Order;

// A new operation on stream `index`, of which `stream` is the moment; it lies before what comes
// after on that stream. Its number: the stream's index in the upper half, never 0.
u64 order_next(Order *stream, u32 index);

// What lies before `from` lies before `to` as well.
void order_join(Order *to, const Order *from);

// The operation lies before `to`.
void order_add(Order *to, u64 operation);

// Does the operation lie before the moment?
bool order_has(const Order *moment, u64 operation);

// Does all that lies before `part` lie before `moment` too?
bool order_has_all(const Order *moment, const Order *part);

void order_free(Order *moment);
