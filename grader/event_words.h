// How an error of the device is told to the student: its words, with the names that he knows.
#pragma once
#include <jansson.h>
#include <stdbool.h>

// Did our own harness do it? The place of an event, of its other side, or of an allocation. Its
// line is no place to send a student to.
bool event_by_harness(const json_t *place);

// Did the grader do it, over a channel of its own?
bool event_by_owner(const json_t *place);

// What happened: the event's message, in which an allocation that the harness made has the name of
// the array that it is. Malloc'ed.
char *event_says(const json_t *event);

// What that means, and what is known besides: how a matrix that was missed lies, and which kernel
// left an array unwritten. NULL: nothing is known. Malloc'ed.
char *event_why(const json_t *event, const char *why);
