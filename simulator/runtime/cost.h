// The host's time for CUDA calls, on the simulated clock.
#pragma once
#include "serve.h"

// Called before a request is answered. If its call is charged for it, the host is busy for a while.
// Returns when the call began.
double cost_begin(const Call *call);

// Called when it has been answered.
void cost_end(const Call *call, double began);
