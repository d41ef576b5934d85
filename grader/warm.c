// Stretches of a tenth of a second: a clock rises in steps, and stays for some hundredths on each.
#include "warm.h"
#include <string.h>

static const double STRETCH = 0.1; // seconds
static const double SAME = 0.97;   // of the stretch before: no quicker than that is as quick
static const double LIMIT = 2;     // seconds: what still falls then will not come to rest

void warm_run(Warmth *w, int side, double seconds, uint32_t calls)
{
    double each = seconds / calls;
    w->busy += seconds;
    w->stretch += seconds;
    if (!w->quickest[side] || each < w->quickest[side]) w->quickest[side] = each;
}

static bool falls(const Warmth *w, int side)
{
    return !w->before[side] || w->quickest[side] < SAME * w->before[side];
}

bool warm_enough(Warmth *w)
{
    if (w->busy >= LIMIT) return true;
    if (w->stretch < STRETCH) return false;
    bool fell = falls(w, 0) || falls(w, 1);
    memcpy(w->before, w->quickest, sizeof w->before);
    if (fell) memset(w->quickest, 0, sizeof w->quickest), w->stretch = 0;
    return !fell;
}
