// Atomics, after the observers have seen the access.
#pragma once
#include "observer.h"

// The result of that row's operation on what memory holds, in the low bits of its type.
u64 atomic_result(const IsaRow *row, bool global, u64 old, u64 second, u64 third);

// Does the access, whose addresses are filled in, only ask for what is in memory, as one that adds
// 0 does, or a compare-and-swap that fails? Those of 16 bytes count as if they didn't.
bool atomic_asks(const Access *a);

// Does the compiler aggregate the lanes of this atomic into one memory operation? Its addresses are
// filled in.
bool atomic_is_aggregated(const Access *a);

// Runs the lanes of the access, whose addresses are filled in, or the first of them: the others get
// their turns before the warp continues.
void atomic_begin(Access *a);
void atomic_go_on(Warp *); // runs those of its unserved lanes whose turn it is
