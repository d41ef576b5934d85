// The functions of the system that a kernel may call (system_functions.def), by number.
#pragma once
#include "base/base.h"

// The number of the function of that name; -1: there is none.
s32 system_function(const char *name);
