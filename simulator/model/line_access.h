// An access to one cache line, packed for the replay: from bit 0 on the line's number, its sectors,
// the kind of access, `more`, and the instruction. For atomics `more` counts the passes over the
// sectors after the first; for stores it says which words of the sectors are written.
#pragma once
#include "base/base.h"

typedef u64 LineAccess;
enum { AT_SECTORS = 34, AT_KIND = 38, AT_MORE = 41, AT_PC = 47 };

static inline u64 line_access_number(LineAccess n) { return n & ((1ull << AT_SECTORS) - 1); }
static inline u32 line_access_sectors(LineAccess n) { return n >> AT_SECTORS & 15; }
static inline u32 line_access_kind(LineAccess n) { return n >> AT_KIND & 7; }
static inline u32 line_access_more(LineAccess n) { return n >> AT_MORE & 63; }
static inline u32 line_access_pc(LineAccess n) { return n >> AT_PC; }

enum kind { LOAD, LOAD_PAST_L1, STORE, STORE_OF_EACH, STORE_BESIDE, ATOMIC_KIND, REDUCTION };
static inline bool line_access_is_store(LineAccess n)
{
    return line_access_kind(n) >= STORE && line_access_kind(n) <= STORE_BESIDE;
}

// `more` of a STORE: 0 if it writes every word. Otherwise it holds two numbers below 8. In one
// sector the words are contiguous: the first one, and how many. In several sectors only the ends
// may lack words: how many words of the first sector it writes, at its end, and how many of the
// last, at its beginning; 0 means all. A STORE_OF_EACH writes that many words of each sector, but
// which ones is unknown. A STORE_BESIDE is a STORE that forms one write with the following store,
// which has other words of that sector.
enum { SECTOR_WORDS = SECTOR_BYTES / 4, ALL_WORDS = (1 << SECTOR_WORDS) - 1 };

// The kind and `more` of a store that writes these words of a line.
static inline LineAccess line_access_of_words(u32 sectors, u32 words)
{
    u32 first = __builtin_ctz(words), last = 31 - __builtin_clz(words),
        count = __builtin_popcount(words), all = __builtin_popcount(sectors);
    if (count == all * SECTOR_WORDS) return (u64)STORE << AT_KIND;
    if (last - first + 1 != count)
        return (u64)STORE_OF_EACH << AT_KIND | (u64)((count + all - 1) / all) << AT_MORE;
    u32 low = all == 1 ? first : -first, high = all == 1 ? count : last + 1;
    return (u64)STORE << AT_KIND
         | (u64)(low % SECTOR_WORDS * SECTOR_WORDS + high % SECTOR_WORDS) << AT_MORE;
}

// The words of a sector that a STORE or STORE_BESIDE writes, a bit for each.
static inline u32 line_access_words(LineAccess n, u32 sector)
{
    u32 low = line_access_more(n) / SECTOR_WORDS, high = line_access_more(n) % SECTOR_WORDS,
        sectors = line_access_sectors(n);
    if (!line_access_more(n)) return ALL_WORDS;
    if (!(sectors & (sectors - 1))) return ((1u << high) - 1) << low;
    if (low && !(sectors & ((1u << sector) - 1))) return ALL_WORDS & ~(ALL_WORDS >> low);
    return high && !(sectors >> sector >> 1) ? (1u << high) - 1 : ALL_WORDS;
}

// Adds the words that a store writes to those that are there. Of a STORE_OF_EACH their number
// counts.
static inline u32 line_access_add_words(u32 words, LineAccess n, u32 sector)
{
    if (line_access_kind(n) != STORE_OF_EACH) return words | line_access_words(n, sector);
    for (u32 more = line_access_more(n); more; more--) words |= words + 1;
    return words & ALL_WORDS;
}
