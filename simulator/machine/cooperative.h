// What the driver provides to cooperative launches.
#pragma once
#include "base/base.h"

// The address of the workspace with which the blocks of a cooperative launch synchronise in
// grid.sync(), initialised for an exclusive launch on that device. Kernels find it in %envreg1
// (high half) and %envreg2.
u64 cooperative_take(u32 device);
void cooperative_give_back(u64 workspace);
