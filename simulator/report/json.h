// clang-format off
// Reports as JSON lines, for a grader (simulator/run --json, on the standard error; --report FD): an object a line. What is
// unknown, or does not apply, is left out. What is for people, and for nobody to decide by, is the message, why, next, that
// and stands of an error.
//
//   "event": "error"      "kind" and "cause": what happened (json.c and causes.def list them); "count": how often it came;
//                         "message", "why", "next": sentences;
//                         "file", "line": where; "inlined_at": [{"file", "line"}], innermost first;
//                         "caller": {"object", "address"}: of a call by host code the program or library that made it, and
//                         the address there, by its symbols' count, to which it returns;
//                         "kernel", "block" and "thread": [x, y, z], "device"; "call": of the host, by its name;
//                         "detail": a name or a text of the program's; "numbers": {name: number}, of a few causes;
//                         "access": "read", "write", "atomic", "copy" or "name"; "bytes" of it; "threads" of the warp that do
//                         it; "space": "global", "shared" or "local"; "address": "0x..."; "owner": [x, y, z], the block that
//                         has the shared memory;
//                         "allocation": {"kind": "device", "variable", "managed", "pinned", "heap" or "imported", "device",
//                         "address", "bytes", "offset": of the error's address, "variable": its name; "file", "line",
//                         "caller": where it was made; "freed": {"file", "line", "caller"}}, the one touched or missed;
//                         "says": [from, to], in it and in "freed": the bytes of the message that tell so;
//                         "use": what an undefined value is used for: "address", "store", "branch", "atomic", "mbarrier";
//                         "undefined": why bytes that are copied are: "unwritten", "computed" or "shuffled", in words "that";
//                         "undefined_bytes": how many;
//                         "other": {"access", "file", "line", "caller", "thread", "block", "kernel" or "call"}, the other
//                         access of a race; "between": what does not order the two: "devices", "operations", "flag",
//                         "blocks", "line" (which stores both) or "barrier";
//                         "stands": lines that say where warps wait
//   "event": "kernel"     "name", "signature", "grid", "block", "device", "status": 0 or its cudaError_t; "counters": sums,
//                         "metrics": ratios, by their names, "aside": counters that --profile leaves out; "estimates": the
//                         names of those that are none of the exact ones; "lines": [{"file", "line", "counters"}];
//                         "time_ns", predicted
//   "event": "refused"    a launch that fails (the first, until somebody looks at its error): "cause", "message", "next",
//                         "kernel", "numbers", "file", "line", as of an error, which it becomes in the end if nobody does;
//                         "status": its cudaError_t
//   "event": "copy"       "kind": "HtoD", "DtoH", "DtoD" or "HtoH", "bytes"
//   "event": "migration"  of managed memory: "direction", as a copy's kind; "cause": "gpu-fault", "cpu-fault" or "prefetch";
//                         "bytes", "faults"
//   "event": "work"       with several devices or a timeline: "kind", "device", "stream", "start_ns", "end_ns"; "links", or
//                         "by_host" where the bytes went by way of the host: [[from, to, bytes]]
//   "event": "call"       with a timeline: "name", "start_ns", "end_ns"
//   "event": "range"      with a timeline, cudaProfilerStart and Stop: "begins", "busy_ns": until all that was issued is done
//   "event": "exit"       the last one: "status", or "signal"
// clang-format on
#pragma once
#include "message.h"
#include "report.h"
#include <jansson.h>

// Writes an object, which is let go, as a line of its own, with one write where the system takes it
// whole.
void report_json_line(int fd, json_t *object);

// An error that came `count` times, a launch that was refused, and one that ran, as lines.
void report_json_error(int fd, const Report *report, const MessageMemory *memory, uint64_t count);
void report_json_refused(int fd, const Report *report, int status);
void report_json_kernel(int fd, const KernelReport *kernel);
