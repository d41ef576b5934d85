// Ranges of device memory that a request names. Each is checked before a byte moves, as no size or address of a request can
// be trusted.
#pragma once
#include "machine/memory.h"
#include "serve.h"

// The live allocation that holds the whole range; NULL: reported. `verb`: "reads", "writes".
Allocation *range_check(const Call *call, const char *verb, u64 address, u64 bytes);

// The same of a box of bytes that a copy or fill names. NULL: the call has its error.
Allocation *range_check_box(Call *call, const char *verb, const WireBox *box);
