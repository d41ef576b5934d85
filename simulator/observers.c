// The observers, in the order in which the machine calls them. The bounds observer is first, so an
// access that it refuses is not shown to any other.
#include "observers.h"
#include "machine/access_pattern.h"
#include "memory/memory.h"
#include "model/counts.h"

extern const Observer bounds_observer, undefined_observer, race_observer, unfinished_observer,
    proxy_observer, managed_observer, link_observer, caches_observer, trace_observer,
    counters_observer;

static const Observer *const all[] = {
    &bounds_observer, &undefined_observer, &unfinished_observer, &proxy_observer,
    &race_observer,   &managed_observer,   &link_observer,       &caches_observer,
    &trace_observer,  &counters_observer,
};

// For --bare: without these a kernel could access memory that it must not, or the host would not
// see what a kernel wrote.
static const Observer *const needed_when_bare[] = { &bounds_observer, &managed_observer,
                                                    &link_observer };

_Static_assert(sizeof all / sizeof *all <= MOST_OBSERVERS,
               "an access pattern keeps a pass for each");

void observers_hand_in(bool bare)
{
    Observers o = { .list = all, .count = sizeof all / sizeof *all, .count_bytes = sizeof(Counts) };
    if (bare) {
        o.list = needed_when_bare, o.count = sizeof needed_when_bare / sizeof *needed_when_bare,
        o.bare = true;
        memory_ignore_definedness();
    }
    observers_set(o);
}
