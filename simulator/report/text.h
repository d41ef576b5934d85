// Reports as text, for a person at the terminal: on stderr, wrapped.
#pragma once
#include "report.h"

// Prints an error that has occurred `count` times, with its source line; and, later, how often it
// recurred.
void report_text_error(const Report *report, uint64_t count);
void report_text_repeats(const Report *report, uint64_t since);

// Prints how many errors of each kind there were, if there were any.
void report_text_summary(const uint64_t found[REPORT_KINDS]);
