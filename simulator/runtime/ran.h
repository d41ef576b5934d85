// Tells what ran, and when, to those who draw it (report/timeline.h) or measure it (report.h).
#pragma once
#include "serve.h"

// The work that was given to the clock last on the stream, which took `ns`.
void ran_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes);

// A call of the host's, which has come to its end.
void ran_call(const Call *call, double start);

// An event that was recorded on the stream, or that it waits for.
void ran_event(u64 stream, const char *name, u64 event);
