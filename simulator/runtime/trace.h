// The trace of the program's calls, which the JSON report brings to the owner (simulator/run
// --owner): a line for each call (report/json.h, "call"), in the order of the calls. The row of a
// request says what its call does (wire/row.h, `does`). Calls of processes other than the one whose
// memory the owner has are left out. Where there is a timeline, all calls that it shows are
// reported, with their times.
#pragma once
#include "serve.h"

// From now on, and in processes that are started later, calls are reported for the owner.
void trace_keep(void);

// The name of the call, for people: "cudaLaunchKernel" of <<<>>>.
const char *trace_name(const Call *call);

// Reports a call that has been answered. timed: the timeline shows it, from `began` until now, in
// ns. Without a timeline, calls that are the same as the one before are counted, and calls beyond
// the first few hundred are left out, so that a program that loops does not flood the owner.
void trace_call(const Call *call, bool timed, double began);

// Reports the source lines of the calls, as far as they are new and known.
void trace_tell_sites(void);

// What was counted is reported, and counting begins anew: the owner makes a request, or the process
// has ended.
void trace_pause(void);
