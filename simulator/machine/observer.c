// The observers, which are handed in from outside (observers.c).
#include "access_pattern.h"

const Observer *const *observers;
u32 observer_count;
u32 observer_count_bytes;
bool observers_are_bare;

void observers_set(Observers o)
{
    observers = o.list;
    observer_count = o.count;
    observer_count_bytes = o.count_bytes;
    observers_are_bare = o.bare;
}
