// A set's lines lie in the order of their last use, so that a line that is used again soon is found at once.
#include "cache.h"
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4 * SECTOR_BYTES, NUMBER_SHIFT = 8 };

bool cache_make(Cache *c, u64 bytes, u32 ways)
{
    c->ways = ways;
    c->sets = bytes / LINE_BYTES / ways;
    if (!c->sets) c->sets = 1;
    c->inverse = UINT64_MAX / c->sets + 1;
    c->line = calloc((size_t)c->sets * ways, sizeof *c->line);
    return c->line != NULL;
}

void cache_free(Cache *c)
{
    free(c->line);
    c->line = NULL;
}

void cache_clear(Cache *c) { memset(c->line, 0, (size_t)c->sets * c->ways * sizeof *c->line); }

static CacheLine *move_to_front(CacheLine *set, u32 way)
{
    CacheLine line = set[way];
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    return set;
}

CacheLine *cache_find(Cache *c, u64 number)
{
    CacheLine *set = cache_set(c, number);
    for (u32 way = 0; way < c->ways && set[way]; way++)
        if (set[way] >> NUMBER_SHIFT == number) return move_to_front(set, way);
    return NULL;
}

CacheLine *cache_take(Cache *c, u64 number, CacheLine *evicted)
{
    CacheLine *set = cache_set(c, number);
    u32 way = 0;
    *evicted = 0;
    for (; way < c->ways && set[way]; way++)
        if (set[way] >> NUMBER_SHIFT == number) return move_to_front(set, way);
    if (way == c->ways) *evicted = set[--way];
    set[way] = number << NUMBER_SHIFT;
    return move_to_front(set, way);
}
