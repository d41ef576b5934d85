#include "choices.h"
#include <string.h>

// How many of the latest words are what they were that period before, up to the first that is not.
static u32 repeats(const Choices *c, u32 period)
{
    u32 n = 0;
    while (n < CHOICE_PERIOD && c->latest[n] == c->latest[n + period]) n++;
    return n;
}

// Of two periods that explain as many words the longer one: the other may be a part of it.
static void find_period(Choices *c)
{
    u32 most = 1;
    for (u32 period = 1; period <= CHOICE_PERIOD; period++) {
        u32 n = repeats(c, period);
        if (n >= most) most = n, c->period = period - 1;
    }
}

// Is a word of a short piece a choice?
static bool is_short_choice(Choices *c, u8 id)
{
    bool chosen = id != c->latest[c->period];
    memmove(c->latest + 1, c->latest, sizeof c->latest - 1);
    c->latest[0] = id;
    if (chosen) find_period(c);
    return chosen;
}

static bool is_end_of_run(Choices *c)
{
    bool chosen = c->equal && c->equal != c->equal_before;
    if (c->equal) c->equal_before = c->equal;
    c->equal = 0;
    return chosen;
}

u64 choices_count(Choices *c, const u8 *from, u64 count)
{
    u64 choices = 0;
    for (u64 n = 0; n < count; n++) {
        u8 id = from[n] & (PIECE_SAME - 1);
        if (from[n] & PIECE_SAME) {
            choices += !c->equal && is_short_choice(c, PIECE_SAME);
            c->equal++;
            id = PIECE_SAME;
        } else {
            choices += is_end_of_run(c);
            if (from[n] & PIECE_LONG) choices += id != c->last;
            else if (id) choices += is_short_choice(c, id);
        }
        c->last = id;
    }
    return choices + is_end_of_run(c);
}
