// What a call costs the host, on the simulated clock.
#pragma once
#include "serve.h"

// The request is about to be answered: if it is the one that its call is charged for, the host is
// busy for a while. Returns when the call began.
double cost_begin(const Call *call);

// It has been answered.
void cost_end(const Call *call, double began);
