// Reports as JSON lines, for a grader: each an object with its "event".
#pragma once
#include "report.h"
#include <jansson.h>

// Writes an object, which is let go, as a line of its own, with one write where the system takes it whole.
void report_json_line(int fd, json_t *object);

// An error that came `count` times, and a launch, as lines.
void report_json_error(int fd, const Report *report, uint64_t count);
void report_json_kernel(int fd, const KernelReport *kernel);
