// The host's time for CUDA calls, on the simulated clock.
#pragma once
#include "serve.h"

// To be called first. A request may say that it is part of a call that an earlier one has
// announced: a graph's launch with so many operations. What was not announced is a call like any
// other.
void cost_admit(Call *call);

// To be called before a request is answered. Advances the host's clock by what the request costs.
// Returns the time at which the call began, in ns.
double cost_begin(const Call *call);

// To be called when the request has been answered.
void cost_end(const Call *call, double began);
