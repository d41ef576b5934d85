// Ranges of device memory that a request names. Each is checked before a byte moves, as no size or
// address of a request can be trusted.
#pragma once
#include "memory/memory.h"
#include "serve.h"

// The live allocation that holds the whole range; NULL: reported. `access`: what the call does
// there.
Allocation *range_check(const Call *call, enum report_access access, u64 address, u64 bytes);

// The same of a box of bytes that a copy or fill names. NULL: the call has its error.
Allocation *range_check_box(Call *call, enum report_access access, const WireBox *box);

// The host's side of a copy is the program's own memory, of which the device knows where pinned
// memory ends, and nothing else: does what begins in it run past that?
bool range_overruns_pinned(const WireRequest *request, const WireBox *box);

// False: it does, and has been reported; the call has its error.
bool range_check_host(Call *call, enum report_access access, const WireBox *box);
