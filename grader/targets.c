// Targets: times on a GPU beside a peer's, judged by their ratio.
#define _GNU_SOURCE
#include "claims.h"
#include "peer.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

Ratio ratio_read(const json_t *entry)
{
    return (Ratio){ .median = number_of(entry, "ratio"),
                    .spread = number_of(entry, "spread"),
                    .from = number_of(entry, "from"),
                    .to = number_of(entry, "to") };
}

Timing target_judge(const Target *target, const json_t *record, const Gpu *gpu)
{
    const json_t *m = json_object_get(json_object_get(record, "measured"), target->peer);
    const json_t *student = json_object_get(m, "student"), *peer = json_object_get(m, "peer");
    Timing t = { .target = target, .verdict = VERDICT_PASS, .limit = gpu->bytes_per_second };
    double bytes = number_of(student, "bytes");
    t.bytes = bytes;
    t.ratio = ratio_read(m);
    t.least = ratio_bound(t.ratio, target->at_least);
    t.gold = ratio_bound(t.ratio, target->gold);
    t.rate = bytes / number_of(student, "seconds");
    t.peer_rate = number_of(peer, "bytes") / number_of(peer, "seconds");

    t.missing = json_string_value(json_object_get(m, "missing"));
    if (t.missing) {
        t.ratio = (Ratio){ 0 };
        t.least = t.gold = BOUND_UNSURE;
        t.rate = t.peer_rate = 0;
        t.words = text_format("%s needs %s, which is not on this machine: not judged.",
                              target->peer, t.missing);
        return t;
    }

    // A tenth is left for the clock of the memory, and for ours.
    double quick = number_of(student, "quick");
    bool too_fast = t.limit > 0 && quick < 0.9 * bytes / t.limit;
    if (!isfinite(t.rate) || !isfinite(t.peer_rate)) {
        t.verdict = VERDICT_GRADER_ERROR;
        t.words = text_format("'%s' cannot be judged: its measurement gave no time.", target->name);
    } else if (too_fast) {
        t.verdict = VERDICT_SUSPECT;
        t.words = text_format("A call seems to take %.3g µs, but the memory needs %.3g µs for its "
                              "%.3g MB: not all of the work was done.",
                              1e6 * quick, 1e6 * bytes / t.limit, bytes / 1e6);
    } else if (t.least == BOUND_UNSURE) {
        t.words = text_format("Twice, most ratios lay from %.2f to %.2f: too far apart to tell, "
                              "and not held against you. "
                              "Run it again while nothing else uses the GPU.",
                              t.ratio.from, t.ratio.to);
    } else if (t.least == BOUND_MISSED && strcmp(target->peer, PEER_COPY) != 0) {
        t.verdict = VERDICT_SLOW;
        t.words = text_format("%.4g µs a call, where %s takes %.4g: %s.", 1e6 * bytes / t.rate,
                              target->peer, 1e6 * bytes / t.peer_rate, target->slow);
    } else if (t.least == BOUND_MISSED) {
        t.verdict = VERDICT_SLOW;
        t.words = text_format("%.0f GB/s, where a copy reaches %.0f: %s.", t.rate / 1e9,
                              t.peer_rate / 1e9, target->slow);
    } else if (t.gold == BOUND_UNSURE) {
        t.words = text_format(
            "Twice, most ratios lay from %.2f to %.2f: too far apart to tell whether that is gold. "
            "Run it again while nothing else uses the GPU.",
            t.ratio.from, t.ratio.to);
    }
    return t;
}

// What cannot be judged is not given gold either.
bool timing_is_gold(const Timing *t)
{
    return isfinite(t->target->gold) && !t->missing && t->gold == BOUND_KEPT;
}

enum gold targets_gold(const Timing *timings, size_t count)
{
    enum gold gold = GOLD_NONE;
    for (size_t i = 0; i < count && gold != GOLD_MISSED; i++)
        if (isfinite(timings[i].target->gold))
            gold = timing_is_gold(&timings[i]) ? GOLD_KEPT : GOLD_MISSED;
    return gold;
}

int targets_speed(const Timing *timings, size_t count)
{
    double speed = 10;
    for (size_t i = 0; i < count; i++)
        if (timings[i].verdict == VERDICT_SLOW)
            speed = fmin(speed, floor(fmax(1, fmin(9, 10 * timings[i].ratio.median
                                                          / timings[i].target->at_least))));
    return (int)speed;
}
