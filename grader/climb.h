// What the earlier runs of a submission leave for this one: how far it had come, in how many runs,
// and what its author predicted.
#pragma once
#include "claims.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct Climb {
    double before[STEPS_MAX + 1]; // the predicted time of a call of each step's check in the run
                                  // before this, in ns, from step 0; 0: not known
    int reached; // the step of the last right answer before this; -1: there was none
    int runs;    // right answers in a row that reached just that step
    int asked;   // the step whose time its author was asked for; -1: none yet
    double said; // the answer, in µs; 0: none
} Climb;

#define CLIMB_NONE ((Climb){ .reached = -1, .asked = -1 })

// From the JSON result of the run before (result.h), if it was of the same submission.
Climb climb_read(const char *result, const char *submission, const Ladder *ladder);

// Asks for a prediction before the first verdict of the next step, once. An empty line skips it;
// so does what is no number of microseconds.
void climb_ask(Climb *, const Ladder *, FILE *in, FILE *out);

// Whether a prediction was made for the step that this run is the first to reach.
bool climb_was_predicted(const Climb *, int step);

// Whether two runs in a row have stayed at the step.
bool climb_is_stuck(const Climb *, int step);

// {"step": 1, "runs": 2, "asked": 2, "said": 20.0} for the run after this one, which has reached
// `step`, or was not right (-1).
json_t *climb_json(const Climb *, int step);
