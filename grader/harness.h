// The harness (worker.c) as a part of the program that it is linked into: by its addresses there, a
// call that the harness made is told from the submission's own, whatever file a submission says
// that it is.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Harness {
    char *program;       // the whole path
    uint64_t begin, end; // of its code, by the program's symbols; both 0: it has none
} Harness;

// Reads the program's symbols harness_begin and harness_end (worker.ld).
Harness harness_of(const char *program);

// Did the harness make this call? place: an object of the device's report with a "caller", or NULL.
bool harness_called(const Harness *h, const json_t *place);
