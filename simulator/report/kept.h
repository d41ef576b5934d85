// A launch that is kept for later: a copy of its report, which needs nothing of the program.
#pragma once
#include "report.h"

// NULL: out of memory.
KernelReport *kept_copy(const KernelReport *kernel);
void kept_free(KernelReport *kept);
