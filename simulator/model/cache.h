// A sectored set-associative cache with LRU replacement. It holds no data, only which lines are
// present.
#pragma once
#include "base/base.h"

// The state of a line: 4 bits each for present, dirty and copied sectors; three bits of cache.c's
// own, 0 for no line; and a mark for the cache's owner.
typedef u16 CacheLine;
enum { CACHE_MARK = 1 << 15 };

enum { MOST_WAYS = 16 };
enum {
    UNEVEN = 8
}; // fitted on an H200: how hit rates fall as data that is read twice, or written, outgrows the
   // cache

typedef struct CacheSet {
    _Alignas(
        128) u32 tag[MOST_WAYS]; // the lower halves of the lines' numbers, searched as a vector
    CacheLine line[MOST_WAYS];
    u64 order;    // the ways, 4 bits each, the most recently used in the lowest
    u32 clearing; // Cache.clearings; with any other value the set is empty
} CacheSet;

typedef struct Cache {
    u32 sets, ways;
    u32 room;      // sets that memory was allocated for
    u32 clearings; // counts cache_clear(), from 1 on
    u64 inverse;   // remainder_inverse(sets)
    u32 uneven;    // of 64 lines so many are placed in a set at random
    CacheSet *set;
} Cache;

// Allocates a cache of `bytes` bytes of lines, at least one set, with 1 to MOST_WAYS ways. False:
// out of memory.
bool cache_make(Cache *c, u64 bytes, u32 ways);
void cache_free(Cache *c);

// Uses this fraction of the sets from now on, at least one. Lines that then belong to another set
// are lost.
void cache_use(Cache *c, double part);
void cache_clear(Cache *c);

// The line of that 34-bit number, which becomes the most recently used; NULL: it is not present.
CacheLine *cache_find(const Cache *c, u64 number);

// The same, but a line that is missing is inserted into its set (cache_set) with no sectors.
// *evicted: the line that it replaced, or 0.
CacheLine *cache_take(const Cache *c, CacheSet *set, u64 number, CacheLine *evicted);

// Cleans dirty sectors of the set, those of least recently used lines first, until `sectors` are
// left in at most `lines` lines. Returns how many were cleaned.
u32 cache_clean(CacheSet *set, u32 lines, u32 sectors);

// The line of the set after which that many others have been used; NULL: there is none.
CacheLine *cache_used_before(CacheSet *set, u32 others);

// The remainder by multiplication: Lemire, Kaser and Kurz, "Faster remainder by direct
// computation", 2019.
static inline u64 remainder_inverse(u32 divisor) { return UINT64_MAX / divisor + 1; }
static inline u32 remainder_of(u32 number, u32 divisor, u64 inverse)
{
    return (u32)(((u128)(inverse * number) * divisor) >> 64);
}

// Lines a power of two apart fall into different sets. Neighbouring lines fall into neighbouring
// sets, or, for a random few, into one of the 32 sets around.
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

// Requests wait in a queue until the host has prefetched the set.
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

// Queues a request for a line. The queue must not be full.
static inline void cache_ask(CacheQueue *q, const Cache *c, u64 number, u64 what, u32 by)
{
    CacheSet *set = cache_set(c, number);
    __builtin_prefetch(set->tag, 1);
    __builtin_prefetch(set->line, 1);
    q->asked[q->came++ % CACHE_COMING] = (CacheAsked){ what, set, by, 0 };
}

// Repeats the latest request, which is still queued.
static inline void cache_ask_again(CacheQueue *q)
{
    q->asked[(q->came - 1) % CACHE_COMING].again++;
}

static inline u32 cache_present(CacheLine line) { return line & 15; }
static inline u32 cache_dirty(CacheLine line) { return line >> 4 & 15; }
static inline u32 cache_copied(CacheLine line) { return line >> 8 & 15; }
static inline CacheLine cache_dirt(u32 sectors) { return (CacheLine)(sectors << 4); }
static inline CacheLine cache_copies(u32 sectors) { return (CacheLine)(sectors << 8); }
