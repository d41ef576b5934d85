// The outcome of a run: what the terminal prints and what the JSON file holds.
#pragma once
#include "claims.h"
#include "climb.h"
#include "record.h"
#include <stdio.h>

// The run on a GPU, after the one on the simulated device.
typedef struct GpuRun {
    Gpu gpu;
    char *toolkit;         // "13.0.88", or NULL
    char *date;            // UTC
    json_t *records;       // of its checks and measurements
    size_t checks, passed; // without the measurements
    uint64_t scrubbed;     // bytes of its memory that were cleared before; 0: none
    Timing timing[CLAIMS_MAX];
    size_t timings;
} GpuRun;

typedef struct Result {
    const char *lesson;     // "05-transpose"
    const char *submission; // as it was typed
    const char *device;     // $PROFILE, or the default's name
    const char *seed;
    enum verdict verdict; // with the TODO rule
    enum verdict behind;  // without it
    json_t *records;      // of all checks, in the order of the file
    size_t checks, passed;
    const json_t *record; // the one that decides, or NULL
    const json_t *fact;   // what decides, or NULL: then a finding does, or nothing
    Finding finding[CLAIMS_MAX];
    size_t findings;      // 0 unless every check passed
    int speed;            // 0..10, of findings; -1: there are none
    const Ladder *ladder; // NULL: the lesson has none, or there are no findings
    unsigned missed;      // the steps of the ladder that want something else (ladder_step)
    int step;             // of the ladder that is reached
    Climb climb;          // what the runs before this leave
    enum gold gold;       // of the device that graded; of a PASS alone
    GpuRun *gpu;          // NULL: there is no GPU, or the checks failed before
    int todo_line, todos; // the first line with TODO, and how many; 0: none
    char *todo;           // its words
    bool touched;         // with a TODO line: the file is no longer as it was handed out
    int unread_line;      // the first launch, where the file reads no launch's error; 0: none
    const char *remark;   // a sentence beside the verdict, or NULL
    const char *again;    // the command to type next: "make lesson-5"
    const char *forward;  // what comes after a PASS: "make lesson-6", or NULL
} Result;

// Verdict, score and TODO from records and, if all are right, from the
// profile's claims. `records` has one record for each check.
void result_judge(Result *r, const Profile *profile);

// Verdict and score again, when r->gpu has run.
void result_judge_gpu(Result *r, const Profile *profile);

// A run that ended before any check: BUILD, NODEVICE, GRADER_ERROR.
void result_refuse(Result *r, json_t *fact);

// Looks for TODO lines in the submission, whether it has changed since it was handed out, and for
// launches whose errors nothing in it reads.
void result_read_source(Result *r);

// The verdict in words, the state first, at most 72 columns.
void result_print(const Result *r, FILE *out);

// Judges each of the times that were measured, as if it were the only one, and leaves the last
// alone in r->gpu, to be judged. For each prints lines "time,NUMBER,VERDICT,STEP,GOLD," and then of
// each target 'RATIO,FROM,TO,AT_LEAST,GOLD,VERDICT,"NAME"'. What there is not is left empty;
// without targets it is one line.
void result_print_times(const Result *r, const Profile *profile, int times, FILE *out);

// The JSON result: build/results/NN-name.json, of a solution build/results/solutions/NN-name.json.
// The same run gives the same bytes, but for "gpu" and "climb". grader/result.schema.json is its
// schema: `make check` compares its words and names with those of the code, and tests hold each
// result to it.
//
//   {"schema": 1, "number": 5, "lesson": "05-transpose", "submission": "exercises/05-transpose.cu",
//    "device": "h200", "seed": "warpwise",
//    "variant": "squares-7-3f2a",   of a variant of the lesson (variant.h)
//    "verdict": "SLOW",              with the TODO rule
//    "behind": "SLOW",               without it
//    "score": {"passed": 7, "checks": 7, "speed": 1,         speed: 1 to 10, or null
//              "step": 1, "steps": 3,  of the ladder, where the lesson has one
//              "gold": false},       all gold bounds are kept; null: it is no PASS, or there are
//                                    none
//    "climb": {"step", "runs", ...}, what this run leaves for the next (climb.h), with a ladder
//    "fact": FACT,                   what decides (record.h), if no claim does
//    "unread": 38,                  the first launch, where the file reads no launch's error
//    "todo": {"line": 38, "words": "TODO: ..."},             if there is one
//    "claims": [{"name", "check", "counters": [...], "sum", "by", "value": sum / by,
//                "unit", "at_least", "at_most", "gold": the bound, or null,
//                "verdict", "estimate", "why", "step": that wants it, from 1, if one does,
//                "words": why it does not hold, "place": {"file", "line"}}, ...],
//    "checks": [RECORD with its "verdict", ...],
//    "gpu": {"device": "NVIDIA H200", "driver": "580.159.04", "toolkit": "13.0.88",
//            "date": "2026-01-31T12:00:00Z", "compute_capability": "9.0",
//            "uuid": "GPU-...", "passed": 6, "checks": 6, "scrubbed": bytes of its memory that were
//            cleared before the run, in a sandbox,
//            "timings": [{"name", "measure", "peer", "ratio", "spread", "from", "to": where the
//            true ratio lies (ratio.h),
//                         "at_least", "gold", "verdict", "why", "rate", "peer_rate", "limit": bytes
//                         a second, "words", "missing": a library, "ratio" is 0 then}, ...],
//            "records": [RECORD with its "verdict", ...]}}   if there is one
json_t *result_json(const Result *r);
