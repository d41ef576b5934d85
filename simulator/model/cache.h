// One sectored cache: sets of lines, the one used longest ago makes room. It holds no bytes, only
// which are there.
#pragma once
#include "base/base.h"

// What is known of a line, in 4 bits each: present, dirty and copied sectors; then three bits of
// cache.c's own, 0: there is no line, and a mark for whoever has the cache.
typedef u16 CacheLine;
enum { CACHE_MARK = 1 << 15 };

enum { MOST_WAYS = 16 };
enum {
    UNEVEN = 8
}; // fitted on an H200: how what is read twice, or written, is lost little by little

typedef struct CacheSet {
    _Alignas(
        128) u32 tag[MOST_WAYS]; // the lower half of each line's number: a vector finds the way
    CacheLine line[MOST_WAYS];
    u64 order;    // the ways, 4 bits each, the one used last lowest
    u32 clearing; // Cache.clearings; another: it is empty
} CacheSet;

typedef struct Cache {
    u32 sets, ways;
    u32 room;      // sets that there is memory for
    u32 clearings; // so far, and one: never 0
    u64 inverse;   // remainder_inverse(sets)
    u32 uneven;    // of 64 lines, so many are in a set by chance
    CacheSet *set;
} Cache;

// Room for `bytes` of lines, at least one set, in 1 to MOST_WAYS ways. False: no memory left.
bool cache_make(Cache *c, u64 bytes, u32 ways);
void cache_free(Cache *c);

// Uses that part of its sets, 0 to 1, at least one, from now on. Lines whose set is another then
// are lost.
void cache_use(Cache *c, double part);
void cache_clear(Cache *c);

// The line of that number, of 34 bits, now the one used last; NULL: it is not there.
CacheLine *cache_find(const Cache *c, u64 number);

// The same, of its set (cache_set), but put there, with no sectors, if it is not. *evicted is the
// line that made room, 0 if there was room.
CacheLine *cache_take(const Cache *c, CacheSet *set, u64 number, CacheLine *evicted);

// Makes dirty sectors of the set clean, those of the line used longest ago first, until no more
// than `sectors` are left, in no more than `lines`. Returns how many it were.
u32 cache_clean(CacheSet *set, u32 lines, u32 sectors);

// The line of the set that so many others have been used after; NULL: there are no more than those.
CacheLine *cache_used_before(CacheSet *set, u32 others);

// The remainder by multiplications: Lemire, Kaser and Kurz, "Faster remainder by direct
// computation", 2019.
static inline u64 remainder_inverse(u32 divisor) { return UINT64_MAX / divisor + 1; }
static inline u32 remainder_of(u32 number, u32 divisor, u64 inverse)
{
    return (u32)(((u128)(inverse * number) * divisor) >> 64);
}

// Powers of two apart are not in one set, and neighbours are in neighbouring sets, or, where chance
// decides, in one of 32 there.
static inline u32 cache_mixed(u64 number) { return (u32)(number ^ number >> 11 ^ number >> 20); }
static inline u32 cache_place(const Cache *c, u32 mixed)
{
    return remainder_of(mixed, c->sets, c->inverse);
}

static inline CacheSet *cache_set(const Cache *c, u64 number)
{
    u32 mixed = cache_mixed(number), chance = (mixed ^ mixed >> 15) * 0x9e3779b1u;
    return c->set + cache_place(c, mixed ^ (chance >> 26 < c->uneven ? chance >> 20 & 31 : 0));
}

// What is asked of a cache waits in a queue until the host has fetched the set from its memory.
enum { CACHE_COMING = 32 };
typedef struct CacheAsked {
    u64 what;
    CacheSet *set;
    u32 by, again;
} CacheAsked;
typedef struct CacheQueue {
    CacheAsked asked[CACHE_COMING];
    u32 came, gone;
} CacheQueue;

static inline bool cache_queue_is_full(const CacheQueue *q)
{
    return q->came - q->gone == CACHE_COMING;
}
static inline bool cache_queue_is_empty(const CacheQueue *q) { return q->came == q->gone; }
static inline CacheAsked cache_next(CacheQueue *q) { return q->asked[q->gone++ % CACHE_COMING]; }

// It is not full. The line's number is given, and what is asked of it, and by whom.
static inline void cache_ask(CacheQueue *q, const Cache *c, u64 number, u64 what, u32 by)
{
    CacheSet *set = cache_set(c, number);
    __builtin_prefetch(set->tag, 1);
    __builtin_prefetch(set->line, 1);
    q->asked[q->came++ % CACHE_COMING] = (CacheAsked){ what, set, by, 0 };
}

// What was asked last is asked once more. It still waits.
static inline void cache_ask_again(CacheQueue *q)
{
    q->asked[(q->came - 1) % CACHE_COMING].again++;
}

static inline u32 cache_present(CacheLine line) { return line & 15; }
static inline u32 cache_dirty(CacheLine line) { return line >> 4 & 15; }
static inline u32 cache_copied(CacheLine line) { return line >> 8 & 15; }
static inline CacheLine cache_dirt(u32 sectors) { return (CacheLine)(sectors << 4); }
static inline CacheLine cache_copies(u32 sectors) { return (CacheLine)(sectors << 8); }
