// Atomics, once the load/store unit has let the observers look.
#pragma once
#include "observer.h"

// What an atomic of that row makes of what memory holds, in the low bits of its type.
u64 atomic_result(const IsaRow *row, bool global, u64 old, u64 second, u64 third);

// Do the lanes of an atomic reach memory as one, as the compiler sees to? Its addresses are filled
// in.
bool atomic_is_aggregated(const Access *a);

// The lanes of the access, whose addresses are filled in, or those of them that come first: the
// others have their turns before the warp goes on.
void atomic_begin(Access *a);
void atomic_go_on(Warp *); // with those of its unserved lanes whose turn it is
