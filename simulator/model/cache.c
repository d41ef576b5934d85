// A set is two lines of the host's own cache. A line that is found stays where it is; only its
// place in the order changes.
#define _GNU_SOURCE
#include "cache.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { LINE_BYTES = 4 * SECTOR_BYTES, AT_HIGH = 12, HUGE = 2 << 20 };
static const CacheLine THERE =
    1 << 14; // below it, the bits of the line's number that the tag lacks
static const u64 IN_ORDER = 0xfedcba9876543210;
static const u64 EACH = 0x1111111111111111;

static size_t bytes_of(const Cache *c) { return (size_t)c->room * sizeof *c->set; }

bool cache_make(Cache *c, u64 bytes, u32 ways)
{
    *c = (Cache){ .ways = ways, .room = bytes / LINE_BYTES / ways, .clearings = 1 };
    if (!c->room) c->room = 1;
    cache_use(c, 1);
    // Look-ups in a large array are scattered; huge pages of the host make them faster.
    const bool large = bytes_of(c) > HUGE;
    const size_t room = large ? (bytes_of(c) + HUGE - 1) / HUGE * HUGE : bytes_of(c);
    c->set = aligned_alloc(large ? HUGE : _Alignof(CacheSet), room);
    if (!c->set) return false;
    if (large) madvise(c->set, room, MADV_HUGEPAGE);
    memset(c->set, 0, bytes_of(c));
    return true;
}

void cache_use(Cache *c, double part)
{
    c->sets = c->room * part + 0.5;
    if (!c->sets) c->sets = 1;
    c->inverse = remainder_inverse(c->sets);
}

void cache_free(Cache *c)
{
    free(c->set);
    c->set = NULL;
}

void cache_clear(Cache *c)
{
    if (++c->clearings) return;
    memset(c->set, 0, bytes_of(c));
    c->clearings = 1;
}

// The ways with that tag, a bit each.
static inline u32 ways_with(const u32 tag[MOST_WAYS], u32 wanted)
{
#if defined __AVX512F__
    // Spelt out because gcc 12 may spill the mask as 16 bits and read back 32.
    __mmask16 same =
        _mm512_cmpeq_epi32_mask(_mm512_load_si512(tag), _mm512_set1_epi32((s32)wanted));
    u32 all;
    asm("kmovw %1, %0" : "=r"(all) : "k"(same));
    return all;
#elif defined __AVX2__
    u32 all = 0;
    for (u32 w = 0; w < MOST_WAYS; w += 8) {
        __m256i same = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)(tag + w)),
                                          _mm256_set1_epi32((s32)wanted));
        all |= (u32)_mm256_movemask_ps(_mm256_castsi256_ps(same)) << w;
    }
    return all;
#else
    u32 all = 0;
    for (u32 w = 0; w < MOST_WAYS; w++) all |= (u32)(tag[w] == wanted) << w;
    return all;
#endif
}

// Moves the way to the front of the order.
static inline void put_first(CacheSet *set, u32 way)
{
    if ((set->order & 15) == way) return;
    u64 others = set->order ^ EACH * way, zero = (others - EACH) & ~others & EACH << 3;
    u32 at = __builtin_ctzll(zero) - 3;
    u64 before = set->order & ((1ull << at) - 1), behind = set->order & ~((16ull << at) - 1);
    set->order = behind | before << 4 | way;
}

// The line, if it is present, of its set.
static inline CacheLine *find(const Cache *c, CacheSet *set, u64 number)
{
    if (set->clearing != c->clearings) {
        set->clearing = c->clearings;
        set->order = IN_ORDER;
        memset(set->line, 0, sizeof set->line);
        return NULL;
    }
    CacheLine wanted = THERE | (CacheLine)(number >> 32 << AT_HIGH);
    for (u32 here = ways_with(set->tag, (u32)number); here; here &= here - 1) {
        u32 way = __builtin_ctz(here);
        if (((set->line[way] ^ wanted) & ~CACHE_MARK) >> AT_HIGH) continue;
        put_first(set, way);
        return &set->line[way];
    }
    return NULL;
}

CacheLine *cache_find(const Cache *c, u64 number) { return find(c, cache_set(c, number), number); }

CacheLine *cache_take(const Cache *c, CacheSet *set, u64 number, CacheLine *evicted)
{
    CacheLine *found = find(c, set, number);
    *evicted = 0;
    if (found) return found;
    u32 way = set->order >> 4 * (c->ways - 1) & 15;
    *evicted = set->line[way];
    put_first(set, way);
    set->tag[way] = (u32)number;
    set->line[way] = THERE | (CacheLine)(number >> 32 << AT_HIGH);
    return &set->line[way];
}

CacheLine *cache_used_before(CacheSet *set, u32 others)
{
    CacheLine *line = &set->line[set->order >> 4 * others & 15];
    return *line ? line : NULL;
}

u32 cache_clean(CacheSet *set, u32 lines, u32 sectors)
{
    u32 dirty = 0, all = 0, cleaned = 0;
    for (u32 w = 0; w < MOST_WAYS; w++)
        dirty += cache_dirty(set->line[w]) != 0,
            all += __builtin_popcount(cache_dirty(set->line[w]));
    for (u32 at = MOST_WAYS; (dirty > lines || all > sectors) && at-- > 0;) {
        CacheLine *line = &set->line[set->order >> 4 * at & 15];
        u32 left = cache_dirty(*line);
        if (!left) continue;
        for (; left && (dirty > lines || all > sectors); left &= left - 1, cleaned++, all--)
            *line &= ~cache_dirt(left & -left);
        dirty -= !left;
    }
    return cleaned;
}
