// Which of all that a run found is told: one cause, what may stand beside it, and what to do next.
// It is chosen by the facts' kinds, verdicts and places, never by their words; terminal.c prints
// it.
#pragma once
#include "result.h"

typedef struct Diagnosis {
    const json_t *note; // a call that failed, which most often explains the rest; NULL: none
    const json_t *also; // a second fact, told in a line; NULL: none
    bool also_explains; // it is from another check, and its "why" tells more than the first fact's
    const char *next;   // what to do first
} Diagnosis;

// What is told beside r->fact.
Diagnosis diagnose_result(const Result *r);

// The record of the checks that decides: the first of those whose verdict stands first. NULL: every
// check passed.
const json_t *diagnose_record(const json_t *records);

// The record whose program's output is shown: the one that decides, else the first that printed
// something. NULL: there are no records.
const json_t *diagnose_output(const Result *r);
