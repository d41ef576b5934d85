// The grader's own clock.
#pragma once
#include "session.h"

// Seconds from asking the worker for `times` calls, the held ones in turn, to its
// answer that the device is done; the outputs have their first contents again
// before the clock starts. Below 0: something else came than the answer that all
// went well; *outcome and *answer say what.
double stopwatch(Session *s, uint32_t times, enum outcome *outcome, Answer *answer);
