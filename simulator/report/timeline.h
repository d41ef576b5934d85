// When everything ran, for people to look at: simulator/run --timeline FILE writes it in the trace
// event format that Perfetto (ui.perfetto.dev) and chrome://tracing open. A process of the trace is
// a host program or one of its devices; a row is the host's calls of CUDA, or a stream of a device.
// Times are those of the simulated clock.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// From now on everything is kept, of this process and of those that it starts. False: it cannot be.
bool timeline_open(const char *path);
bool timeline_is_on(void);

// This is the device process of the machine's n-th program, from 0 on; its devices are called so.
void timeline_process(uint32_t n, const char *device_name);

// A row of a device: one of its streams; 0: its default stream. A row of the host has no device.
typedef struct {
    bool on_device;
    uint32_t device;
    uint64_t stream;
} TimelineRow;

// Work, or a call: from when to when, and how many bytes it moved, if that means anything. kind:
// "kernel", "copy", "fill", "host function", "graph", "prefetch", "call".
void timeline_span(TimelineRow row, const char *kind, const char *name, double start_ns,
                   double end_ns, uint64_t bytes);

// An event is recorded, or waited for: a moment of its stream.
void timeline_moment(TimelineRow row, const char *name, double at_ns, uint64_t event);

// Writes the file, whole or not at all. False: it could not be written, and errno says why.
bool timeline_close(void);
