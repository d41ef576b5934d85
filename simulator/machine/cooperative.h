// What the driver provides for cooperative launches.
#pragma once
#include "base.h"

// The address of the memory by which the blocks of a cooperative launch meet in grid.sync(), ready for a launch on that
// device. Kernels find it in %envreg1 (high half) and %envreg2.
u64 cooperative_workspace(u32 device);
