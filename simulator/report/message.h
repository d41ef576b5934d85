// The words for what happened, made of a report's facts after the table of causes (causes.def).
#pragma once
#include "report.h"

// An allocation as it is told, if it has been freed too.
typedef struct {
    uint64_t address, bytes;
    const char *kind; // "device", "variable", "managed", "pinned", "heap", "imported"
    const char *name; // of a variable
    uint32_t device;  // that it was allocated on
    Place made;       // file NULL: unknown
    bool freed;
    Place unmade; // by whom
} MessageMemory;

MessageMemory message_memory(const Allocation *allocation);

const char *message_cause(enum report_cause cause); // its name
enum report_kind message_kind(enum report_cause cause);

// Makes what of message, why and next is NULL, and copies the rest; a cause without such words
// leaves NULL.
void message_make(Report *report);
void message_free(Report *report);

// Are both sides of a race on one line, as in `x++`, or in a loop?
bool message_same_line(const Report *report);

// Of undefined bytes that are copied: "nothing wrote". NULL: they are not undefined.
const char *message_that(const Report *report);
