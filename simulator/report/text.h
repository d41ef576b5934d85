// Reports as text, for a person at the terminal: on stderr, wrapped.
#pragma once
#include "report.h"

// Prints words, wrapped, the first line after `lead`, the others as far in.
void text_wrapped(const char *lead, const char *words);

// Prints the source line, if its file is there, with a caret under the column, or under its first
// word.
void text_source(const Place *place);

// Prints an error that has occurred `count` times, with its source line; and, later, how often it
// recurred.
void report_text_error(const Report *report, uint64_t count);
void report_text_repeats(const Report *report, uint64_t since);

// How many errors of each kind there were, in words, malloc'ed; NULL: there were none.
char *report_text_found(const uint64_t found[REPORT_KINDS]);
