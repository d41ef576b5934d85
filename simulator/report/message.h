// The words for an error, made of the report's facts by its row of causes.def.
#pragma once
#include "report.h"

// The facts of an allocation, freed or not, that messages use.
typedef struct {
    uint64_t address, bytes;
    const char *kind; // "device", "variable", "managed", "pinned", "heap", "imported"
    const char *name; // of a variable
    uint32_t device;  // on which it was allocated
    Place made;       // file NULL: unknown
    bool freed;
    Place unmade; // where it was freed
} MessageMemory;

MessageMemory message_memory(const Allocation *allocation);

const char *message_cause(enum report_cause cause); // its name
enum report_kind message_kind(enum report_cause cause);

// Makes those of message, why and next that are NULL, and copies the others. They stay NULL if the
// cause has no such words.
void message_make(Report *report);
void message_free(Report *report);

// Are both sides of a race on one line, as in `x++`, or in a loop?
bool message_same_line(const Report *report);

// The number of that name, among the report's own and those that its fields give. False: none.
bool message_number(const Report *report, const char *name, int64_t *value);

// What made copied bytes undefined, in words: "nothing wrote". NULL: the report has none.
const char *message_that(const Report *report);
