// What the device reports, gathered: one JSON object a line comes in (kernels,
// errors, the program's end), and sums and lists that verdicts are made of stay.
#pragma once
#include "trace.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENTS_DEVICES = 64 };

// A copy to the host in one piece: where to, and how many of its words, of all of them, a kernel or
// a fill had written last.
typedef struct Returned {
    uint64_t to, bytes, words, by_device;
} Returned;

typedef struct Events {
    json_t *counters;  // name -> sum over all kernels and copies
    json_t *call;      // the same since events_new_call()
    json_t *estimates; // name -> true: counters that are estimates
    json_t *lines;     // [{file, line, counters}], summed by source line
    json_t *by_kernel; // [{signature, launches, time_ns, counters, lines}]
    json_t *errors;    // the error events as they came, the first of each place
    json_t *refused; // the last launch of the call in progress that the device refused; NULL: none
                     // so far
    size_t kernels;  // launches that were reported
    double time_ns;  // their predicted time, summed
    struct {         // where there are several devices, what the call in progress did so far
        double start_ns, end_ns; // on the simulated clock; both 0: nothing yet
        int64_t in[EVENTS_DEVICES], out[EVENTS_DEVICES]; // bytes over each one's link
        int64_t waits;    // of the host, since it issued something last
        uint64_t streams; // a bit for each in which something was done, the default stream's first
    } work;
    bool calling;       // a call is in progress
    Trace trace;        // of the program's calls of CUDA
    char *launched;     // which kernels the call in progress launched, in words; NULL: none so far
    size_t launches;    // how many
    Returned *returned; // by the call's copies to the host, in order
    size_t returned_count;
    bool ranged;        // only work counts between the grader's telling that the call begins and
    bool within;        // that it is over (owned.h), as now
    double busy_ns;     // for so long the device was still at work when the function returned
    bool ended;         // the exit event has come
    int status, signal; // of the program; signal 0: it exited by itself
    char *malformed;    // what was wrong with a line that could not be read, or NULL
    bool refused_line;  // the trace has refused a line
    char *pending;      // the beginning of a line, its end still to come
    size_t pending_bytes;
} Events;

void events_init(Events *e);

// What comes next belongs to a new call; and what comes next to none, so that it does not count.
// Errors are always taken.
void events_new_call(Events *e);
void events_end_call(Events *e);

// Forgets what was counted so far, by kernels, copies and lines. Errors stay.
void events_forget(Events *e);

// Takes bytes as they come, cut anywhere.
void events_feed(Events *e, const char *bytes, size_t count);
