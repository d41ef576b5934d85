// What this run of the grader is about. The checks are processes of their own
// (Criterion starts the program anew for each), so the main program hands these
// over through the environment.
#pragma once
#include "claims.h"
#include <stdbool.h>

// In main(), once: the lesson's name ("05-transpose"), the project's root, and
// the folder that is this run's alone.
void run_export(const char *lesson, const char *root, const char *folder);

const char *run_lesson(void);       // "05-transpose"
const char *run_folder(void);       // records and the worker are in it
const char *run_worker(void);       // the compiled submission
const char *run_device(void);       // $DEVICE, else the simulated device of this tree; may be ""
const char *run_seed(void);         // $SEED, else "warpwise"
const Profile *run_profile(void);   // of this lesson; without a file, one with no claims
const char *run_profile_problem(void);  // what is wrong with it, or NULL
