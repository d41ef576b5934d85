// Records work and calls, with their times, for the timeline (report/timeline.h), and work for the
// JSON report.
#pragma once
#include "serve.h"

// The stream's row in the timeline. Rows are numbered in the order in which the program made its
// streams; the default stream is row 0.
u64 activity_row(u64 stream);

// The call of the program that has issued work: a time within it, in ns, and from where it was
// made.
typedef struct ActivityCall {
    bool known;
    double at;
    u64 caller[WIRE_CALLERS];
} ActivityCall;

// A call begins, and what is recorded is its work, until another begins. Work that waits keeps the
// call, which is taken up while the work runs; NULL: no longer.
void activity_begin(const Call *call, double at);
ActivityCall activity_issuer(void);
void activity_take_up(const ActivityCall *issuer);

// Records the latest work of the stream, which took `ns`. A launch's has its grid.
void activity_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes);
void activity_kernel(u64 stream, const char *name, const Launch *launch);

// Records a call of the host, which ends now and began at `start`, in ns; perhaps it has failed.
void activity_call(const Call *call, double start);

// Records that an event was recorded on the stream, or that the stream waits for it.
void activity_event(u64 stream, const char *name, u64 event);
