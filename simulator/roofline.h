// How long a launch takes on the device that is imitated.
#pragma once
#include "base.h"

// Seconds: launch overhead, and the larger of the sectors over the DRAM's peak rate and the instructions over the issue
// peak (Williams, Waterman and Patterson, "Roofline", CACM 2009). A lower bound, and called an estimate wherever it is shown.
double roofline_seconds(u64 sectors, u64 instructions);
