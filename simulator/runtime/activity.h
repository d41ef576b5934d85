// Records what ran, and when, for the timeline (report/timeline.h) and for measurements (report.h).
#pragma once
#include "serve.h"

// The stream's latest work, which took `ns`.
void activity_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes);

// A call of the host, which has ended.
void activity_call(const Call *call, double start);

// An event that was recorded on the stream, or that the stream waits for.
void activity_event(u64 stream, const char *name, u64 event);
