// The hardware registers of a kernel's threads.
#pragma once
#include "module.h"

// An estimate from the PTX alone. ptxas reorders and unrolls the code, so the truth may be half or
// twice as much.
u32 registers_guess(const Kernel *kernel);
