// Finds the native code of a kernel's runs of instructions.
#pragma once
#include "op.h"

// Follows the kernel's ops, one for each of its instructions, with those of its native code, as far
// as it can be told which runs of instructions that stands for. Frees `ops` and returns the longer
// array; `ops` itself if there is no memory.
Op *native_follow(const Kernel *kernel, Op *ops);
