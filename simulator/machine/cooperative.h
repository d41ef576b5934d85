// What the driver provides for cooperative launches.
#pragma once
#include "base/base.h"

// The address of the memory by which the blocks of a cooperative launch meet in grid.sync(), ready
// for a launch on that device, which has it to itself. Kernels find it in %envreg1 (high half) and
// %envreg2.
u64 cooperative_take(u32 device);
void cooperative_give_back(u64 workspace);
