// The counters of a launch, as tables for a person.
#pragma once
#include "report.h"

// Prints on stderr the launch's sums and metrics, then its source lines.
void table_kernel(const KernelReport *k);
