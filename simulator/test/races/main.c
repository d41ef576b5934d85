// races clean FIRST COUNT | beside FIRST COUNT: runs so many programs that have no race, with
// flags, or those whose blocks cannot see one another. races spoilt SEED: one that has lost
// something that ordered its accesses, and says before which lines of ops.def race with each other,
// and whether one of them must be found.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "races.h"

static Plan plan;

static int run_clean(u64 first, u64 count, bool flags)
{
    u32 wrong = 0;
    for (u64 seed = first; seed < first + count; seed++) {
        plan_make(&plan, seed, flags);
        if (run_plan(&plan, true)) continue;
        printf("program %llu: its threads have loaded, or left in memory, what they should not\n",
               (unsigned long long)seed);
        wrong++;
    }
    return wrong != 0;
}

// A load that a barrier stands behind has its value, says the simulator, fences or none: of those
// it need not tell.
static int run_spoilt(u64 seed)
{
    static Race races[4096];
    bool whole;
    plan_make(&plan, seed, seed % 4);
    const char *gone = plan_spoil(&plan, seed, &whole);
    if (!gone) return 0;
    order_start(&plan);
    for (u32 n = 0; n < plan.count;) n = order_next(n, false);
    u32 count = order_races(races, sizeof races / sizeof *races);
    printf("gone %s\n", gone);
    for (u32 n = 0; n < count; n++) {
        const Kind *first = &kinds[plan.event[races[n].first].op.kind],
                   *second = &kinds[plan.event[races[n].second].op.kind];
        printf("pair %u %u %d\n", first->line, second->line,
               races[n].sure && (whole || first->what != LOAD));
    }
    fflush(stdout);
    run_plan(&plan, false);
    return 0;
}

int main(int words, char **word)
{
    if (words == 4 && !strcmp(word[1], "clean"))
        return run_clean(strtoull(word[2], NULL, 10), strtoull(word[3], NULL, 10), true);
    if (words == 4 && !strcmp(word[1], "beside"))
        return run_clean(strtoull(word[2], NULL, 10), strtoull(word[3], NULL, 10), false);
    if (words == 3 && !strcmp(word[1], "spoilt")) return run_spoilt(strtoull(word[2], NULL, 10));
    fprintf(stderr, "usage: races clean|beside FIRST COUNT, or races spoilt SEED\n");
    return 2;
}
