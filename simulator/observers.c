// Who looks on, in order: an access that is out of bounds is seen by nobody else.
#include "observer.h"

extern const Observer bounds_observer, undefined_observer, race_observer, managed_observer, peer_observer,
                      counters_observer;

const Observer *const observers[] = {
    &bounds_observer, &undefined_observer, &race_observer, &managed_observer, &peer_observer,
    &counters_observer,
};
const u32 observer_count = sizeof observers / sizeof *observers;
