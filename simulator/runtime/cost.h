// What a call costs the host, on the simulated clock.
#pragma once
#include "serve.h"

// The request is about to be answered: if it is the one that stands for its call, the host is busy
// with it for a while. Returns when it began.
double cost_begin(const Call *call);

// It has been answered.
void cost_end(const Call *call, double began);
