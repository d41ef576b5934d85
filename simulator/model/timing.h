// How long a launch takes on the device that is imitated.
#pragma once
#include "machine/warp.h"

// Seconds, of the launch that ends: by the model in replay.c.
double timing_seconds(const Grid *grid);
