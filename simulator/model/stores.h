// Stores on their way from L1 to L2. Whole sectors go at once. A line of which stores brought parts
// of sectors waits until some others have been stored to after it, and what comes for it in the
// meantime goes with it: one write of what were several. How many others, ncu shows of warps that
// store to one sector one after the other (profile: l1_waiting_lines).
#pragma once
#include "coalesce.h"
#include "line_access.h"

enum { MOST_WAITING = 32 };

typedef struct Stores {       // a ring: came % MOST_WAITING is the next to be taken
    u64 number[MOST_WAITING]; // of the lines that wait; 0: none
    struct {
        u32 words, pc, when;
        bool each;
    } line[MOST_WAITING]; // each: nobody knows which words
    u32 came, gone;
    u32 count; // lines stored to so far, each time they were
} Stores;

// Must the line that waits longest go, so that no more than `others` have been stored to after it?
static inline bool stores_is_due(const Stores *s, u32 others)
{
    return s->came != s->gone
        && (s->came - s->gone == MOST_WAITING
            || s->count - s->line[s->gone % MOST_WAITING].when > others);
}
LineAccess stores_next(
    Stores *s); // that line, or, where one note cannot say which words it has, the first part of it

void stores_wait(
    Stores *s,
    LineAccess n); // puts a store with what waits of its line, or behind the others: there is room
