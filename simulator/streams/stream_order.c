// Vector clocks with an entry for each stream. The operations of a stream are ordered, so the
// latest one that comes before a point implies all earlier ones.
#include <stdlib.h>
#include <string.h>

#include "stream_order.h"
#include "base/need.h"

static u32 operations; // so far, on all streams

static void make_room(Order *o, u32 count)
{
    if (count <= o->count) return;
    u32 *larger = need(realloc(o->last, count * sizeof *larger));
    memset(larger + o->count, 0, (count - o->count) * sizeof *larger);
    *o = (Order){ larger, count };
}

u64 order_next(Order *stream, u32 index)
{
    make_room(stream, index + 1);
    stream->last[index] = ++operations;
    return (u64)index << 32 | operations;
}

void order_join(Order *to, const Order *from)
{
    make_room(to, from->count);
    for (u32 n = 0; n < from->count; n++)
        if (from->last[n] > to->last[n]) to->last[n] = from->last[n];
}

void order_add(Order *to, u64 operation)
{
    u32 index = operation >> 32;
    make_room(to, index + 1);
    if ((u32)operation > to->last[index]) to->last[index] = (u32)operation;
}

bool order_has(const Order *o, u64 operation)
{
    u32 index = operation >> 32;
    return index < o->count && o->last[index] >= (u32)operation;
}

bool order_has_all(const Order *o, const Order *part)
{
    for (u32 n = 0; n < part->count; n++)
        if (part->last[n] > (n < o->count ? o->last[n] : 0)) return false;
    return true;
}

void order_free(Order *o)
{
    free(o->last);
    *o = (Order){ 0 };
}
