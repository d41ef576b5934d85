// A lesson's summary: what the course keeps of the runs of its solution's versions on a GPU, a file
// a lesson and machine in profiles/results/. The results themselves (result.h) are a hundred times
// as large, and stay in build/.
//
//   {"schema": 1, "lesson": "05-transpose",
//    "versions": [
//      {"version": 1, and the following as the version's result has it, numbers to six digits:
//       "verdict", "score", "device",
//       "gpu": {"device", "driver", "toolkit", "date", "compute_capability", "passed", "checks",
//               "timings": [without "why" and "words"],
//               "records": [of what was timed: {"check", "measured": {PEER: {"tries", "ratios",
//                           "student", "peer"}}}]},
//       "claims": [the headline counters: without "why", "words" and "place"]}, ...]}
//
// So whatever reads a result's timings or claims reads those of a summary's version too.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { SUMMARY_VERSIONS = 32 };

// What a summary has of one result. NULL, with the reason in *problem, if it is no result of the
// lesson, or of a run that did not come as far as a GPU.
json_t *summary_of(const json_t *result, const char *lesson, int version, const char **problem);

// Reads a summary: version v goes to versions[v - 1], and what the file lacks is left as it is. A
// file that is not there has none. Returns NULL, or what is wrong with the file.
const char *summary_read(const char *path, const char *lesson, json_t *versions[SUMMARY_VERSIONS]);

// Writes one, a row a timing, measurement and claim; those that are NULL are left out. False, with
// errno, where it cannot be written.
bool summary_write(const char *path, const char *lesson, json_t *const versions[SUMMARY_VERSIONS]);
