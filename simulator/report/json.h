// clang-format off
// Reports as JSON lines, an object a line, for a grader (simulator/run --json writes them to the standard error, --report FD to
// that descriptor). What is unknown or does not apply is left out. An error's message, why, next, that and stands are for
// people: a program must not depend on their words.
//
//   "event": "error"      "kind" and "cause": what happened (json.c and causes.def list them); "count": how often;
//                         "message", "why", "next": sentences;
//                         "file", "line": where; "inlined_at": [{"file", "line"}], innermost first;
//                         "caller": {"object", "address"}: the program or library (or "owner": --owner) whose host code made the call, and the
//                         return address in it, as its symbols count;
//                         "kernel", "block" and "thread": [x, y, z], "device"; "call": the name of the host's call;
//                         "detail": a name or a text of the program; "numbers": {name: number}, of a few causes;
//                         "access": "read", "write", "atomic", "copy" or "name"; its "bytes"; "threads": how many of the warp
//                         make it; "space": "global", "shared" or "local"; "address": "0x..."; "owner": [x, y, z], the block
//                         whose shared memory it is;
//                         "allocation": {"kind": "device", "variable", "managed", "pinned", "heap" or "imported", "device",
//                         "address", "bytes", "offset": of the error's address, "variable": its name; "file", "line",
//                         "caller": where it was made; "freed": {"file", "line", "caller"}}, which was accessed or missed;
//                         "says": [from, to], in it and in "freed": the bytes of the message that tell this fact;
//                         "pointer": where a bad pointer came from: {"argument": of the kernel, from 1, "byte": in it} or
//                         {"address": of memory, "byte": in its allocation}; "null": it is null; "malloc":
//                         {"file", "line", "wanted", "heap"}: where a kernel's malloc has returned null, and of how many bytes;
//                         "use": what an undefined value is used for: "address", "store", "branch", "atomic", "mbarrier";
//                         "undefined": why copied bytes are undefined: "unwritten", "computed" or "shuffled"; "that": in words;
//                         "undefined_bytes": how many;
//                         "other": {"access", "file", "line", "caller", "thread", "block", "kernel" or "call"}, the other
//                         access of a race, or the call that destroyed a launch's stream or graph;
//                         "between": what fails to order the two: "devices", "operations", "flag", "blocks", "line" (one
//                         line stores both) or "barrier";
//                         "stands": lines that say where warps wait
//   "event": "kernel"     "name", "signature", "grid", "block", "device", "status": 0 or its cudaError_t; "counters": sums,
//                         "metrics": ratios, by their names, "aside": counters that --profile leaves out; "estimates": the
//                         names of those that are estimates; "lines": [{"file", "line", "counters"}];
//                         "time_ns", predicted; "bound": what bounds it, "memory", "compute", "latency", "atomics", or
//                         "transfers" of pages or over links; with --profile or --html, "findings": what costs it time, as
//                         [{"title", "words", "next": for people, "file", "line", "cost": the part of the time, 0 to 1,
//                         "without_ns": the time predicted without it, if the model of time can tell}]
//   "event": "refused"    a launch that fails (the first one, until the program checks its error): "cause", "message", "next",
//                         "kernel", "numbers", "file", "line", as for an error, which follows if the program never checks;
//                         "status": its cudaError_t
//   "event": "copy"       "kind": "HtoD", "DtoH", "DtoD" or "HtoH", "bytes"; with --owner, of one in one piece to the host, "to": its
//                         address there, "written": how many of the words were written last
//                         by nobody, a kernel, a fill, the host, and a copy of what the owner filled
//   "event": "crossing"   with --owner, whenever it asks: what else has gone from the program to the device or back since then:
//                         "kind": "module" (not in the program's file), "fill" (values), "print" (text of kernels, values of
//                         conditions, times between events, and waits and answers to queries after the first sixteen), "hosts"
//                         (what the host has worked out and brought by copies, model/carried.h), "pages" (what it has changed
//                         in managed memory; once it is told what the host was given: and worked out), "shown" (what the device
//                         has changed there), "pinned" (what kernels then read in pinned memory), "where" (before the host is told: addresses of copies and fills, and what
//                         launches are given that is new), or "small" (moved within the devices by copies, in pieces of less
//                         than 16 bytes); "bytes"
//   "event": "migration"  of managed memory: "direction", like the kind of a copy; "cause": "gpu-fault", "cpu-fault" or "prefetch";
//                         "bytes", "faults"
//   "event": "work"       with several devices or a timeline: "kind", "device", "stream", "start_ns", "end_ns"; "links", or
//                         "by_host" if the bytes were moved through the host: [[from, to, bytes]]
//   "event": "call"       a call of the program's, in the order of the calls. With a timeline: "name", "start_ns", "end_ns"; "did":
//                         what it did, a word of the list below; "blocks": the host stopped in it until earlier work was done,
//                         or has asked until it was. The name is the program's own word, and these two are the device's.
//                         With --owner and without --bare, of the calls that the list below has: "name"; "does": what;
//                         "caller", as for an error; "site": the number of its place; "device", if there are several;
//                         "stream": 0 for the default stream; "status": its cudaError_t, if it failed; "within": it is part
//                         of a graph's launch; "waits": for what the host has waited in it: "stream", "event", "device" or
//                         "all"; "asks": the same of a query, which has the status 600 while the work is not complete
//        "does": "alloc"      "memory": "device", "managed", "pinned" or "registered"; "bytes"; "address", if it succeeded
//                "free"       "address"
//                "variable"   "variable": its name, "address", "bytes": it is looked for by its name
//                "copy"       "kind", "bytes", "to", "from": addresses; if it has several rows, "rows", "width" and
//                             "pitch": [to, from]; "pinned": the host's memory is
//                "fill"       the same without "kind" and "from"; "value"
//                "prefetch"   "address", "bytes", "kind": "HtoD" or "DtoH"
//                "launch"     "signature", "grid", "block", "shared": dynamic bytes; "arguments": of each [bytes, word, ...],
//                             its words of 8 bytes in the parameter block, as signed integers: at most 8 words, and 64
//                             arguments; "ignored": the program gets no result, as of <<<>>>
//                "graph"      a graph's launch, of "count" operations, which follow
//                "wait"       a synchronization or a query; "event_id", if it is an event's
//                "record"     the stream records the event "event_id"
//                "order"      the stream waits for the event "event_id"
//                "reset"      all memory of the device is freed
//                "check"      the program reads the error of a launch that failed and gave it no result
//                "misuse"     the runtime has refused the call: an error of the kind "api" or "unsupported" says why
//                         Or "again" alone: so many times more the call before was made, one right after the other. Or "does"
//                         and "left_out": so many calls that do that are not written. Of those between two requests of the
//                         owner's the first 256 are that succeeded, and the first 256 that failed.
//   "event": "site"       the source line of a place of calls: "site", "file", "line". When the owner asks for them
//                         (wire.def, SITES), or when the program ends badly, those that are new and known are written
//   "event": "range"      with a timeline, cudaProfilerStart and Stop: "begins"; "owner": it was the owner; "busy_ns": until all issued work is complete
//   "event": "exit"       the last one: "status", or "signal"
// clang-format on
#pragma once
#include "message.h"
#include "report.h"
#include <jansson.h>

// Writes an object as a line, if possible with one write(), and releases the object.
void report_json_line(int fd, json_t *object);
void report_json_copy(int fd, const char *kind, uint64_t bytes, const CopyReport *back);

// Write an error that occurred `count` times, a refused launch, and a launch that ran.
void report_json_error(int fd, const Report *report, const MessageMemory *memory, uint64_t count);
void report_json_refused(int fd, const Report *report, int status);
void report_json_kernel(int fd, const KernelReport *kernel);
void report_json_call(int fd, const CallReport *call);
void report_json_site(int fd, uint32_t site, const Place *place);
