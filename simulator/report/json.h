// Reports as JSON lines, for a grader (simulator/run --json, on the standard error; --report FD):
// an object a line. What is unknown, or does not apply, is left out.
//
//   "event": "error"      "kind" (json.c lists them), "message", "why", "next": sentences; "count":
//   how often it came;
//                         "file", "line": where; "caller": {"object", "address"}: of a call by host
//                         code the program or library that made it, and the address there, by its
//                         symbols' count, to which it returns; "inlined_at": [{"file", "line"}],
//                         innermost first; "kernel", "block" and "thread": [x, y, z], "device";
//                         "address": "0x..."; "that", "bytes": what is amiss with how many bytes;
//                         "other": {"file", "line", "thread", "block" or "call"}, the other access
//                         of a race; "stands": lines that say where warps wait
//   "event": "kernel"     "name", "signature", "grid", "block", "device", "status": 0 or its
//   cudaError_t; "counters": sums,
//                         "metrics": ratios, by their names, "aside": counters that --profile
//                         leaves out; "estimates": the names of those that are none of the exact
//                         ones; "lines": [{"file", "line", "counters"}]; "time_ns", predicted
//   "event": "refused"    a launch that fails (the first, until somebody looks at its error):
//   "message", "next", "kernel", "file",
//                         "line", as of an error, which it becomes in the end if nobody does;
//                         "status": its cudaError_t
//   "event": "copy"       "kind": "HtoD", "DtoH", "DtoD" or "HtoH", "bytes"
//   "event": "migration"  of managed memory: "direction", as a copy's kind; "cause": "gpu-fault",
//   "cpu-fault" or "prefetch";
//                         "bytes", "faults"
//   "event": "work"       with several devices or a timeline: "kind", "device", "stream",
//   "start_ns", "end_ns"; "links", or
//                         "by_host" where the bytes went by way of the host: [[from, to, bytes]]
//   "event": "call"       with a timeline: "name", "start_ns", "end_ns"
//   "event": "range"      with a timeline, cudaProfilerStart and Stop: "begins", "busy_ns": until
//   all that was issued is done "event": "exit"       the last one: "status", or "signal"
#pragma once
#include "report.h"
#include <jansson.h>

// Writes an object, which is let go, as a line of its own, with one write where the system takes it
// whole.
void report_json_line(int fd, json_t *object);

// An error that came `count` times, a launch that was refused, and one that ran, as lines.
void report_json_error(int fd, const Report *report, uint64_t count);
void report_json_refused(int fd, const Report *report, int status);
void report_json_kernel(int fd, const KernelReport *kernel);
