// Who looks on, in order: an access that is out of bounds is seen by nobody else.
#include "memory/memory.h"
#include "machine/shape.h"

extern const Observer bounds_observer, undefined_observer, race_observer, unfinished_observer,
    proxy_observer, managed_observer, link_observer, caches_observer, trace_observer,
    counters_observer;

static const Observer *const all[] = {
    &bounds_observer, &undefined_observer, &unfinished_observer, &proxy_observer,
    &race_observer,   &managed_observer,   &link_observer,       &caches_observer,
    &trace_observer,  &counters_observer,
};

// Those without which a kernel could touch what is not its own, or the host would not see what it
// did.
static const Observer *const few[] = { &bounds_observer, &managed_observer, &link_observer };

_Static_assert(sizeof all / sizeof *all <= MOST_OBSERVERS, "a shape keeps a promise of each");

const Observer *const *observers = all;
u32 observer_count = sizeof all / sizeof *all;

bool observers_are_bare;

void observers_bare(void)
{
    observers_are_bare = true;
    observers = few;
    observer_count = sizeof few / sizeof *few;
    memory_ignore_definedness();
}
