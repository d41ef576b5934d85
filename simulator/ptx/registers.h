// How many registers of the hardware a thread of a kernel takes.
#pragma once
#include "module.h"

// A guess from the PTX alone. ptxas orders and unrolls the code anew, so it may be half or twice
// the truth.
u32 registers_guess(const Kernel *kernel);
