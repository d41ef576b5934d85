// A set's lines lie in the order of their last use, so that a line that is used again soon is found at once.
#include "cache.h"
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4 * SECTOR_BYTES };

bool cache_make(Cache *c, u64 bytes, u32 ways)
{
    c->ways = ways;
    c->room = bytes / LINE_BYTES / ways;
    if (!c->room) c->room = 1;
    c->line = calloc((size_t)c->room * ways, sizeof *c->line);
    cache_use(c, 1);
    return c->line != NULL;
}

void cache_use(Cache *c, double part)
{
    c->sets = c->room * part + 0.5;
    if (!c->sets) c->sets = 1;
    c->inverse = UINT64_MAX / c->sets + 1;
}

void cache_free(Cache *c)
{
    free(c->line);
    c->line = NULL;
}

void cache_clear(Cache *c) { memset(c->line, 0, (size_t)c->room * c->ways * sizeof *c->line); }

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
        if (cache_number(set[way]) == number) return move_to_front(set, way);
    return NULL;
}

CacheLine *cache_take(Cache *c, u64 number, CacheLine *evicted)
{
    CacheLine *set = cache_set(c, number);
    u32 way = 0;
    *evicted = 0;
    for (; way < c->ways && set[way]; way++)
        if (cache_number(set[way]) == number) return move_to_front(set, way);
    if (way == c->ways) *evicted = set[--way];
    set[way] = number << 12;
    return move_to_front(set, way);
}
