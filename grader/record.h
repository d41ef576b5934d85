// A check's record: the file by which a check, in Criterion's child process,
// tells the program what it found. A check without one has failed, whatever
// Criterion says of it.
//
//   {"check": "ragged", "source_line": 31, "calls": 3, "expectations": 3,
//    "compulsory_read": 4096, "compulsory_write": 4096,       bytes
//    "compulsory_htod": 4096, "compulsory_dtoh": 4096, "compulsory_link": 0,    bytes
//    "compulsory_operations": 0,
//    "figures": {"error": 0.1},                    what figure() said, if anything
//    "kernels": 3, "counters": {...}, "estimates": {...}, "lines": [...], "time_ns": 1.5,
//    "by_kernel": [{"signature", "launches", "time_ns", "counters", "lines"}, ...],
//    "facts": [FACT, ...],                         what is wrong; none: the check passed
//    "notes": [FACT, ...],                         failed API calls, which decide nothing
//    "pictures": ["grey", ...],                    names of those shown (grader.h), if any
//    "output": "what the program printed", "output_cut": false,
//    "measured": {"copy": {                        of a Measure(), by peer; "ratio": of bytes a
//                                                  second
//      "ratio": 0.84, "spread": 0.002, "tries": 1, "ratios": [one of each turn A/B/B/A, sorted],
//      "student": {"function", "bytes": of a call, "seconds": of a call, the median, "quick": a
//      quarter took less,
//                  "calls": N, "sets": of buffers}, "peer": {the same}},
//      "sgemm_cublas": {"missing": "libcublas"}}}
//
// A fact: {"verdict": "BOUNDS", "says": "n = 33: ...", "why": ..., "next": ...,
//          "function": that the check called,
//          "kind": of the device's error (KINDS, verdict.h),
//          "cause": its row of simulator/report/causes.def,
//          "kernel", "file", "line", "block", "thread",
//          "count": how often it occurred, "other": the other side of a race,
//          "library": that the file includes, and the lesson does without,
//          "skipped": true, if the check did not begin}; all after "says" as there is.
// grader/result.schema.json is the form of all this.
#pragma once
#include "verdict.h"
#include <jansson.h>
#include <stdbool.h>

// A fact, or a note (PASS). The words are cleaned; why and next may be NULL.
json_t *fact_new(enum verdict v, const char *says, const char *why, const char *next);

enum verdict fact_verdict(const json_t *fact);

// The fact that decides: the first of those whose verdict stands first. NULL: none.
json_t *record_deciding_fact(const json_t *record);

// PASS if there are no facts.
enum verdict record_verdict(const json_t *record);
