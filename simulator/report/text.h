// Reports as text, for a person at the terminal: on stderr, wrapped.
#pragma once
#include "report.h"

// An error that came `count` times by now, with its source line; and later, how often it came
// since.
void report_text_error(const Report *report, uint64_t count);
void report_text_repeats(const Report *report, uint64_t since);
