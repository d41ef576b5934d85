#include "mark.h"
#include "base/need.h"
#include <stdlib.h>

static double *at;
static u32 count, room;

u32 mark_new(double time)
{
    if (count == room) {
        room = room ? 2 * room : 64;
        at = need(realloc(at, room * sizeof *at));
    }
    at[count] = time;
    return ++count;
}

double *mark_at(u32 mark) { return &at[mark - 1]; }

void marks_forget(void) { count = 0; }

void marks_push_back(double from, double ns)
{
    for (u32 i = 0; i < count; i++)
        if (at[i] == from) at[i] += ns;
}
