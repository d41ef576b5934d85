// One sectored cache: sets of lines, the one used longest ago makes room. It holds no bytes, only which are there.
#pragma once
#include "base.h"

typedef u64 CacheLine;                  // the line's number above, then 4 bits each of copied, dirty and present sectors; 0: none

typedef struct Cache {
    u32 sets, ways;
    u32 room;                           // sets that there is memory for
    u64 inverse;                        // of sets, for the remainder
    CacheLine *line;                    // set after set, in each the one used last first
} Cache;

// Room for `bytes` of lines, at least one set. False: no memory left.
bool cache_make(Cache *c, u64 bytes, u32 ways);
void cache_free(Cache *c);

// Uses that part of its sets, 0 to 1, at least one, from now on. Lines whose set is another then are lost.
void cache_use(Cache *c, double part);
void cache_clear(Cache *c);

// The line of that number, now the one used last; NULL: it is not there.
CacheLine *cache_find(Cache *c, u64 number);

// The same, but put there, with no sectors, if it is not. *evicted is the line that made room, 0 if there was room.
CacheLine *cache_take(Cache *c, u64 number, CacheLine *evicted);

// Powers of two apart are not in one set, and neighbours are in neighbouring sets. The remainder by multiplications:
// Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019.
static inline CacheLine *cache_set(const Cache *c, u64 number)
{
    u32 mixed = (u32)(number ^ number >> 11 ^ number >> 20);
    return c->line + (u64)(((u128)(c->inverse * mixed) * c->sets) >> 64) * c->ways;
}

// It will be asked for soon.
static inline void cache_expect(const Cache *c, u64 number)
{
    CacheLine *set = cache_set(c, number);
    __builtin_prefetch(set);
    __builtin_prefetch(set + 8);
}

static inline u32 cache_present(CacheLine line) { return line & 15; }
static inline u32 cache_dirty(CacheLine line) { return line >> 4 & 15; }
static inline u32 cache_copied(CacheLine line) { return line >> 8 & 15; }
static inline u64 cache_number(CacheLine line) { return line >> 12; }
static inline CacheLine cache_dirt(u32 sectors) { return (CacheLine)sectors << 4; }
static inline CacheLine cache_copies(u32 sectors) { return (CacheLine)sectors << 8; }
