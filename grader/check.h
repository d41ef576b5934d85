// The check in progress, as buffers, calls and expectations share it. One
// process runs one check.
#pragma once
#include "verdict.h"
#include <jansson.h>

// Adds a fact about the student's function, "given: says".
json_t *check_add_fact(enum verdict v, const char *says, const char *why, const char *next);

// Ends the check if there is any fact. Criterion's jump: it does not return then.
void check_stop_if_failed(void);

// An expectation was looked at.
void check_count_expectation(void);

// What diagnose() was given, or NULL.
struct Mismatch;
const char *(*check_explain(void))(const struct Mismatch *);
