// Stores on their way from L1 to L2. Whole sectors pass at once. A line that was stored to in part
// waits until some other lines have been stored to, and later stores to it are merged into one
// write. ncu shows how many others, in kernels whose warps store to one sector in turn (profile:
// l1_waiting_lines).
#pragma once
#include "coalesce.h"
#include "line_access.h"

enum { MOST_WAITING = 32 };

typedef struct Stores {       // a ring: came % MOST_WAITING is the next entry to fill
    u64 number[MOST_WAITING]; // of the waiting lines; 0: none
    struct {
        u32 words, pc, when;
        bool each;
    } line[MOST_WAITING]; // each: which words is unknown
    u32 came, gone;
    u32 count; // stores to lines so far
} Stores;

// Must the line that has waited longest go, so that at most `others` lines are stored to after it?
static inline bool stores_is_due(const Stores *s, u32 others)
{
    return s->came != s->gone
        && (s->came - s->gone == MOST_WAITING
            || s->count - s->line[s->gone % MOST_WAITING].when > others);
}
LineAccess stores_next(Stores *s); // takes that line, or the first part of it if one LineAccess
                                   // cannot express its words

void stores_wait(
    Stores *s,
    LineAccess n); // merges a store into its waiting line or adds it; there must be room
