// The system's functions that a kernel may call (system_functions.def), by number.
#pragma once
#include "base/base.h"

// The number of that function; -1: there is none.
s32 system_function(const char *name);
