// The timeline: simulator/run --timeline FILE writes when everything ran, in the trace event format
// that Perfetto (ui.perfetto.dev) and chrome://tracing open. A process of the trace is a host
// program or one of its devices; a row is the host's CUDA calls, or a stream of a device. Times are
// those of the simulated clock.
#pragma once
#include "base/place.h"
#include <stdbool.h>
#include <stdint.h>

// Records everything from now on, of this process and of those that it starts. False: not possible.
bool timeline_open(const char *path);
bool timeline_is_on(void);

// This is the device process of the machine's n-th program, counted from 0; its devices are named
// accordingly.
void timeline_process(uint32_t n, const char *device_name);

// A row of a device is one of its streams, 0 the default stream. The host's row has no device.
typedef struct {
    bool on_device;
    uint32_t device;
    uint64_t stream;
} TimelineRow;

// What is known of a span. NULL and 0 are left out.
typedef struct {
    uint64_t bytes;               // that it moved
    const uint32_t *grid, *block; // of a kernel
    uint64_t shared;              // dynamic, bytes of a block
    const Place *place;           // the source line of the call
    const char *error;            // the name of the error with which the call failed
    bool issued;                  // a call of this program's has issued it,
    double issued_ns;             // which was under way then: an arrow leads from it
} TimelineFacts;

// A span of work or of a call. kind: "kernel", "copy", "fill", "host function", "graph",
// "prefetch", "call".
void timeline_span(TimelineRow row, const char *kind, const char *name, double start_ns,
                   double end_ns, const TimelineFacts *facts);

// An event is recorded or waited for, at a moment of its stream.
void timeline_moment(TimelineRow row, const char *name, double at_ns, uint64_t event);

// Writes the file, whole or not at all. False: that failed, and errno says why.
bool timeline_close(void);
