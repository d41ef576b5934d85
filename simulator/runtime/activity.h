// Records work and calls, with their times, for the timeline (report/timeline.h), and work for the
// JSON report.
#pragma once
#include "serve.h"

// The stream's row in the timeline. Rows are numbered in the order in which the program made its
// streams; the default stream is row 0.
u64 activity_row(u64 stream);

// Records the latest work of the stream, which took `ns`.
void activity_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes);

// Records a call of the host, which ends now and began at `start`, in ns.
void activity_call(const Call *call, double start);

// Records that an event was recorded on the stream, or that the stream waits for it.
void activity_event(u64 stream, const char *name, u64 event);
