// The counters of a launch, as tables for a person.
#pragma once
#include "report.h"

// Prints them on stderr: the launch's sums and figures, then its source lines.
void table_kernel(const KernelReport *k);
