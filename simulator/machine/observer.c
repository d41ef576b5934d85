// Those who look on are handed in from outside (observers.c).
#include "shape.h"

const Observer *const *observers;
u32 observer_count;
bool observers_are_bare;

void observers_set(const Observer *const *list, u32 count, bool bare)
{
    observers = list;
    observer_count = count;
    observers_are_bare = bare;
}
