// The profile as one page for a browser: simulator/run --html FILE. It needs nothing but itself: no
// network, no scripts. Text and numbers are those of --profile (details.h); beside them is the
// source with its counters.
#pragma once
#include "totals.h"

// Gathers everything from now on, of this process and of those that it starts. False: not possible.
bool html_open(const char *path);
bool html_is_on(void);

// This is the device process of the machine's n-th program, counted from 0.
void html_process(uint32_t n);

// Adds what this process has run (totals.h).
void html_add(void);

// Writes the file, whole or not at all. device: its name; program: its words, the last one NULL;
// errors: what was found, in words, or NULL. False: that failed, and errno says why.
bool html_close(const char *device, char *const *program, const char *errors);
