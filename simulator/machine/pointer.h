// Where a bad pointer came from, as the kernel's own code tells: virtual registers keep what they
// were given last.
#pragma once
#include "report/report.h"
#include "warp.h"

// Fills in r->pointer: what gave `row`, which the instruction uses, the pointer by which the lane
// comes to r->address. Only pointers that are null or to other than device memory are looked for.
void pointer_trace(Report *r, const Warp *w, const Insn *i, u32 row, u32 lane);

// Reports an access to r->address, which is not device memory, and a call of it, where there is no
// function of the device: what lies there, if that is the program's own.
void pointer_report_access(Report *r);
void pointer_report_call(Report *r);
