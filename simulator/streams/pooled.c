// The uses of an allocation are operations of streams. An Order keeps the latest one of each
// stream.
#include "pooled.h"
#include "clock.h"

bool pooled_use(const Allocation *a, u64 operation)
{
    if (!a->pooled || !operation) return true;
    order_add(&a->pooled->uses, operation);
    return clock_ordered(a->pooled->made, operation);
}

bool pooled_has_use(const Allocation *a, u64 operation)
{
    return !a->pooled || !operation
        || (order_has(&a->pooled->uses, operation) && clock_ordered(a->pooled->made, operation));
}

bool pooled_reaches(const Allocation *a, u32 device) { return *a->pooled->access >> device & 1; }
