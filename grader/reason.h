// Why the last call came out as it did, told by the trace of its calls of CUDA (trace.h): a copy
// that is missing, too short, too early or from the wrong memory, an allocation that is too small,
// a launch of too few threads. On a GPU there is no trace, and no reason is known.
#pragma once
#include "grader.h"
#include "trace.h"

typedef struct Reason {
    char *why, *next; // NULL: none is known; malloc'ed
    const Traced *at; // the call that is to be changed; NULL: none is
} Reason;

// Of a wrong element of an output.
Reason reason_of_element(const Buffer *out, size_t index);

// Of a call that launched no kernel, whose answer is wrong in a way that nothing else explains.
Reason reason_of_call(void);

// Of a call that has not come back in its time.
Reason reason_of_lateness(void);

// Of an error that the device reports.
Reason reason_of_error(const json_t *event);
