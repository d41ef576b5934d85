// Ranges of device memory that a request names. Each range is checked before a byte is copied,
// because no size or address of a request can be trusted.
#pragma once
#include "memory/memory.h"
#include "serve.h"

// Returns the live allocation that contains the whole range. NULL: there is none, and an error has
// been reported. `access`: what the call does to the range.
Allocation *range_check(const Call *call, enum report_access access, u64 address, u64 bytes);

// The same for the box of a copy or fill. NULL: the reply also has the error.
Allocation *range_check_box(Call *call, enum report_access access, const WireBox *box);

// Is the box within a live allocation, and that pinned memory? Neither reports anything.
bool range_is_good(const WireRequest *request, const WireBox *box);
bool range_is_pinned(const WireRequest *request, const WireBox *box);

// Does the host's side of a copy begin in pinned memory and run past its end? The device knows
// nothing about other memory of the program.
bool range_overruns_pinned(const WireRequest *request, const WireBox *box);

// False: it does; an error has been reported, and the reply has it.
bool range_check_host(Call *call, enum report_access access, const WireBox *box);
