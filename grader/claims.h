// A lesson's profile, profiles/lessons/NN-name.cfg (libconfig): what its checks
// may use, and what a good answer's counters are held against.
//
//     instructions = 200000000L;   # warp instructions a check may execute
//     seconds = 20;                # wall clock a check may take
//     devices = 4;                 # of the simulated machine, 1 unless told; on real ones it takes
//                                  two at least
//     timelines = ["large"];       # checks of which it is kept when everything ran, beside the
//                                  result
//
//     without = ["cub", "thrust"]; # libraries that a submission may not include
//
//     claims = (
//       { name = "sectors stored";                   # at most 24 characters
//         check = "large";                           # the Check() it is measured on
//         counter = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
//         per = "compulsory_write";
//         at_least = 1.0;
//         at_most = 1.10; version = 2;
//         step = 2;
//         gold = 1.02; gold_version = 4;
//         why = "Every sector holds 32 bytes of the answer, and is stored once.";
//         suspect = "Fewer sectors were stored than the answer holds.";
//         slow = "neighbouring threads write far apart";
//       }
//     );
//
// counter  one name, or a list [ "a", "b" ] whose sum is meant; Nsight Compute's names.
//          To sectors of global memory that are loaded or stored belong those that copies in bulk
//          load or store, which Nsight Compute counts elsewhere.
//          "gpu__time_duration.sum" is the time of the kernels in ns, predicted: a bound of it lies
//          further from the versions on either side than the model's worst error
//          (profiles/accuracy).
// per      what the sum is divided by: "compulsory_read", "compulsory_write" or
//          "compulsory" (their sum), in sectors: the bytes that compulsory() said / 32;
//          "compulsory_htod", "compulsory_dtoh": the bytes that compulsory_journey() said;
//          "compulsory_link": those that compulsory_link() said;
//          "compulsory_operations": what compulsory_operations() said / 32, in warp instructions;
//          "figure": nothing; the counter is then the name of what figure() said in the check;
//          "call", the number of calls; or another counter's name, of which 0 counts as 1. For
//          threads this is "launch__busy_thread_count": a launch can have any number of threads
//          that do nothing. Those that access memory count by how many of a launch's sectors their
//          warps touch: as many threads as would have the same sum and the same sum of squares,
//          were all alike. And launches count by their share of the instructions, so that threads
//          of a launch of its own that does none of the work change nothing. Times of the model may
//          be held against one another, or against a number where the bound is further off than the
//          model's worst error.
// unit     what the value is in, at most 12 columns, where the name of `per` says too little:
//          "a round" for an operation.
// at_least below it the verdict is SUSPECT, and `suspect` is the sentence said. A claim without
//          `suspect` has a floor under the mechanism of its step instead (the shared loads of a
//          tile): below it the verdict is SLOW, in the words of `slow` and `next`. It has no
//          at_most.
// at_most  above it the verdict is SLOW; the worst source line is found in the
//          device's counters, and `slow` completes the sentence about it
//          ("32 sectors a store in 05-transpose.cu:14, 4 would do: <slow>.").
// again    what completes it instead where that line's accesses touch no sector in vain, but more
//          of them are made
//          than the task needs.
// next     what to do about it, where that is not to change the worst line.
// causes   what at_most may have been missed for: ( { counter = "cuda_api__waits_between.sum";
//          more_than = 1; slow = "the host waits % times"; next = "wait once"; }, ... ). The first
//          whose counter, on this check, is more_than or less_than its number gives its words for
//          the claim's slow and next; % in slow is the count. They are looked at where no source
//          line is to blame.
// why      for whoever reads the profile, and for the JSON result.
// At least one of the bounds must be there; at_least and at_most need their words.
//
// gold     the expert's upper bound, at most at_most. It costs nobody a point: an answer
//          that keeps every gold bound of the device that graded it is told so (PASS gold),
//          and whoever passes reads how far gold is. The textbook's version need not reach
//          it: full marks are within a beginner's reach, and gold is what there is beyond.
// version  the version of the solution that first keeps at_most, or the floor, and
// gold_version  the one that first keeps gold, which must be said. grader/try.sh runs the
//          versions and holds the profile to it: kept by that version, and broken by the
//          one before. So a bound that everybody keeps, or nobody, cannot stay unseen; a
//          bound that version 1 keeps already has version = 1, or none.
//
// What a right answer climbs:
//
//     ladder = {
//       check = "large";                             # the Check() whose predicted time is told;
//                                                    # with compulsory_link() the elapsed time
//       steps = ( { name = "whole sectors"; version = 2; },
//                 { name = "no conflicts"; version = 3; } );
//       gold = 4;                                    # the version of the expert's step
//     };
//
// step     of a claim or a target: the step that wants it, from 1; left out, a claim is wanted from
//          the first step on, and a target by the last one. A step is reached where at_most and the
//          floors of all claims, and at_least of all targets, that it and the steps before it want
//          are kept. A right answer is 5 points, and each step adds its share of the other 5; PASS
//          is the last step.
// lessens  of a step that makes something else than time less: the name of the claim whose value
//          its version has at least 15 % less of than the version before.
// check    of a step: the Check() whose time it shortens, where the lesson has two subjects. Of
// each
//          check that the steps have the time is told. Left out, it is the ladder's.
// name     what has been done, at most 24 characters: told once the step is reached.
// version  the first that reaches the step. grader/try.sh runs the versions, and holds the ladder
//          to it; and each step's version, and gold's, is predicted to be at least 15 % faster on
//          the check than that of the step before, the first step's than version 1.
// Without a ladder the points are those of the worst bound (claims_speed()).
//
// Where the student mends mistakes, the steps are mistakes, and may be taken in any order:
//
//       steps = ( { name = "out of bounds"; version = 1; checks = [ "differences" ]; }, ... );
//
// checks   that pass once the mistake is mended. Such a step is reached where they pass and the
//          bounds that this step wants are kept, whatever the other steps are, and also where the
//          answer as a whole is wrong. The points are the share of ten that is mended.
//
// What is held against a GPU's clock, where there is one:
//
//     gpu = (
//       { name = "of the copy rate";
//         measure = "large";                         # the Measure() it is timed in
//         peer = "scan_cub";                         # left out: a copy
//         at_least = 0.76; version = 3;
//         gold = 0.88; gold_version = 4;
//         why = "Version 3 reached 0.85 in profiles/results/h200; a tenth less is full marks.";
//         slow = "the GPU copies the same bytes in less time";
//       }
//     );
//
// at_least is a ratio: the bytes a second that the compulsory bytes of a call make, to those of a
// peer that copies as many on the same GPU, timed in turns with it; or, where the target names a
// peer of the lesson's own (peer.h), the time that this takes for the same work to the time of the
// call. Targets of one measure may have different peers. Below it the verdict is SLOW. gold is at
// least at_least, and version and gold_version are held to what profiles/results/ has of the
// versions. Bytes a second that the GPU's memory cannot deliver are SUSPECT. Of a bound that lies
// among ratios which spread far, twice, it cannot be told whether it is kept (ratio.h): that is
// said, and not held against anybody.
#pragma once
#include "gpu.h"
#include "ratio.h"
#include "verdict.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CLAIMS_MAX = 16,
    CLAIM_COUNTERS_MAX = 8,
    CLAIM_CAUSES_MAX = 8,
    TIMELINES_MAX = 4,
    LIBRARIES_MAX = 4
};
enum { STEPS_MAX = 5, STEP_CHECKS_MAX = 4 };

// Why an upper bound may have been missed.
typedef struct Cause {
    const char *counter, *slow, *next;
    double more_than, less_than; // INFINITY, -INFINITY: not said
} Cause;

typedef struct Claim {
    const char *name, *check, *per, *why, *suspect, *slow;
    const char *again, *next, *unit; // or NULL
    const char *counter[CLAIM_COUNTERS_MAX];
    size_t counters;
    size_t added; // the last ones of these, which the profile does not name: a device may lack them
    double at_least, at_most;  // -INFINITY, INFINITY: no such bound
    double gold;               // INFINITY: none
    int version, gold_version; // that first keep at_most or the floor, gold; 0: not said
    int step;                  // that wants at_most or the floor
    Cause cause[CLAIM_CAUSES_MAX];
    size_t causes;
} Claim;

typedef struct Target {
    const char *name, *measure, *peer, *why, *slow; // peer: "copy", or the lesson's own
    double at_least;
    double gold;               // -INFINITY: none
    int version, gold_version; // that first keep at_least, gold; 0: not said
    int step;                  // that wants at_least
} Target;

typedef struct Step {
    const char *name;
    int version; // that first reaches it
    const char *check[STEP_CHECKS_MAX];
    size_t checks;        // that pass once its mistake is mended; 0: the steps are none of mistakes
    const char *lessens;  // the claim whose value it makes less; NULL: it shortens a time
    const char *shortens; // the check whose time it shortens; NULL: the ladder's
} Step;

typedef struct Ladder {
    const char *check; // whose predicted time is told
    Step step[STEPS_MAX];
    int steps; // 0: there is no ladder
    int gold;  // the version of the expert's step; 0: there is none
} Ladder;

typedef struct Profile {
    uint64_t instructions;               // warp instructions a check may execute
    double seconds;                      // wall clock a check may take
    int devices;                         // that the simulated machine has
    const char *timeline[TIMELINES_MAX]; // checks of which one is kept
    size_t timelines;
    const char *library[LIBRARIES_MAX]; // that a submission may not include (libraries.h)
    size_t libraries;
    Claim claim[CLAIMS_MAX];
    size_t claims;
    Target target[CLAIMS_MAX]; // on a GPU
    size_t targets;
    Ladder ladder;
} Profile;

// What a claim came to, on one run.
typedef struct Finding {
    const Claim *claim;
    double sum, by;       // what was counted, and what it is divided by
    double value;         // the ratio
    enum verdict verdict; // PASS, SUSPECT, SLOW, or GRADER_ERROR
    bool estimate;        // a counter of it is an estimate
    char *words;          // why it is not PASS, a sentence or two; else NULL
    const char *next;     // what to do about it, or NULL
    const char *file;     // the worst source line, if there is one
    int line;
    char *lacks; // what it needs for gold, a sentence; NULL: nothing, or it is not PASS
} Finding;

// What a target came to, on one run on a GPU.
typedef struct Timing {
    const Target *target;
    Ratio ratio;            // to the peer
    double bytes;           // compulsory, of a call
    double rate, peer_rate; // bytes a second
    double limit;           // that the memory can deliver, 0: not known
    enum bound least, gold; // what can be told of the target's; KEPT where there is no gold
    const char *missing;    // the library that its peer wants in vain, or NULL
    enum verdict verdict;   // PASS, SUSPECT, SLOW, or GRADER_ERROR
    char *words;            // a sentence about what is not as it should be; else NULL
} Timing;

// Reads a profile; strings live as long as the process. Returns NULL, or what is
// wrong with it and where.
const char *profile_read(const char *path, Profile *profile);

// What its value is in: "x compulsory", "a call", ...
const char *claim_unit(const Claim *claim);

// Judges a claim by its check's record (record.h): GRADER_ERROR if the record
// cannot say (no such counter, nothing compulsory).
Finding claim_judge(const Claim *claim, const json_t *record);

// Whether at_least is a floor under a step's mechanism.
bool claim_is_floor(const Claim *claim);

// The digits behind the point that a bound of gold is shown with.
int gold_digits(double gold);

// Does it hold what the check itself said by figure()?
bool claim_is_figure(const Claim *claim);

// The ratio that a measurement's record, or a result's timing, has. Results of old have no range:
// from and to are 0.
Ratio ratio_read(const json_t *entry);

// Judges a target by the record of its measurement, on a GPU.
Timing target_judge(const Target *target, const json_t *record, const Gpu *gpu);

// How an answer stands to the gold bounds of claims and targets.
enum gold {
    GOLD_NONE,   // there are no such bounds
    GOLD_MISSED, // one is not kept, or cannot be judged
    GOLD_KEPT,
};
bool finding_is_gold(const Finding *f); // it keeps the bound that there is
bool timing_is_gold(const Timing *t);
enum gold claims_gold(const Finding *findings, size_t count);
enum gold targets_gold(const Timing *timings, size_t count);

// Holds the versions of a solution to what the profile says of them. results[i] is the
// JSON result of version i + 1, NULL where it is not known: then nothing is said of it.
// Of claims, or (on_gpu) of targets. Prints a line for each that is not so; returns
// how many are not, and adds to *held how many were looked at.
size_t claims_hold(const Profile *profile, bool on_gpu, json_t *const *results, size_t count,
                   FILE *out, size_t *held);

// The steps that miss something that they want: a bound, or a check of the records that passes. Bit
// 0 is the first step's.
unsigned claims_missed(const Finding *findings, size_t count);
unsigned targets_missed(const Timing *timings, size_t count);
unsigned checks_missed(const Ladder *ladder, const json_t *records);

// The step that an answer has reached, or how many mistakes are mended: 0 to ladder->steps.
int ladder_step(const Ladder *ladder, unsigned missed);

// Are its steps mistakes that are to be mended?
bool ladder_mends(const Ladder *ladder);

// The points of a right answer that has reached the step: 5 to 10. Of one that mends: 0 to 10.
int ladder_points(const Ladder *ladder, int step);

// The check whose time a step shortens. Of step 0, which is a right answer, and of steps that there
// are not, it is the ladder's.
const char *ladder_check(const Ladder *ladder, int step);

// The predicted time of a call, in ns, that records have of the step's check (device_time()); 0:
// none.
double ladder_time(const Ladder *ladder, int step, const json_t *records);

// Is it the time of the whole call, and not the sum of its kernels' (device_time_is_whole())?
bool ladder_is_whole(const Ladder *ladder, int step, const json_t *records);

// What a call of that check takes at least on the device, in ns (device_least()). 0: not known.
double ladder_least_time(const Ladder *ladder, int step, const json_t *records, const char *root,
                         const char *device);

// Holds the versions to the ladder, as claims_hold() does to bounds.
size_t ladder_hold(const Ladder *ladder, json_t *const *results, size_t count, FILE *out,
                   size_t *held);

// 1 to 10: ten where every upper bound holds, else ten times the worst bound / value
// (of a target: ratio / bound), and never below one, since the answer is right.
int claims_speed(const Finding *findings, size_t count);
int targets_speed(const Timing *timings, size_t count);
