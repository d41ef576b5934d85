// GRADES/log.jsonl, the class's log: who released, changed, or said what of which mark, when and
// why. It only grows. A line is a JSON object
//
//     {"n": 7, "time": "2026-10-05T21:59:00Z", "who": "Grace Hopper", "what": "override",
//      "student": PSEUDONYM, "lesson": "05-transpose", "old": MARK, "new": MARK, "why": "...",
//      "chain": 64 digits}
//
// "n" counts from 1. "chain" is the HMAC, with the class's secret, of the chain of the line before
// and of this line without its own: a line that is changed, moved or taken out breaks it, and so
// does one that somebody adds without the secret. GRADES/log.last has the number and the chain of
// the last line, so that lines taken off the end are missed.
//
// A line that a kill or a full disk cut short stays where it is. The next line that is written says
// so: its "what" is "cut", and "lost" has the SHA-256 of each piece before it.
//
// What each "what" has besides: release, new; regrade, old, new, why; override, old, new, why (new
// null: taken back); comment and appeal, words; forget, nothing.
#pragma once
#include <jansson.h>
#include <stdbool.h>

// Reads and verifies the log of GRADES, with the key that secret_open() has read. False: it cannot
// be read, or is not as it was written; it has said where and what to do. A line that was cut is
// said, and no error.
bool log_open(const char *grades);

// The lines, an array in their order; it stays the log's.
const json_t *log_lines(void);

// How many lines were cut short since the log began.
size_t log_cuts(void);

// Adds a line (it takes the object over) with its number, time and chain: one write, and an fsync.
// False: it cannot be written; it has said why.
bool log_add(json_t *line);

// The last line of this kind about a student and a lesson (NULL: whatever the lesson), or NULL.
const json_t *log_last(const char *what, const char *pseudonym, const char *lesson);
