// A measurement: the student's function and its peers, each in a worker of its own
// on the GPU, timed by the grader's clock in turns, one peer after the other.
//
//     A  N calls, 2N calls         the student's: the slope of the two is a call's time
//     B  N calls, 2N calls         the peer's; up to 10N in place of 2N where that needs another
//     try (ratio.h) B  ...                       A/B/B/A: what drifts, as a GPU's clock does, hits
//     both A  ...
//
// A call's buffers come round again only when twice the L2 cache has gone past. Before the
// turns that count the two run in turns until the GPU is warm (warm.h): it has been idle
// while the host made the data.
#define _GNU_SOURCE
#include "buffer.h"
#include "check.h"
#include "grader.h"
#include "owned.h"
#include "peer.h"
#include "process.h"
#include "ratio.h"
#include "run.h"
#include "stopwatch.h"
#include "text.h"
#include "warm.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SHORT_RUN = 4e-3; // seconds that N calls should take
static const double LONG_RUN = 40e-3; // ... at most, once short runs have differed too much
static const double LONG_ROUND = 0.2; // ... of a round, beside which its launches take no time
enum { MOST_CALLS = 10000 };          // N, however short they are

// One side: whose calls are timed.
typedef struct Side {
    Session *session;
    const char *function;
    Arg argv[PROTOCOL_HELD][PROTOCOL_ARGS];
    size_t argc[PROTOCOL_HELD], held;
    Request request[PROTOCOL_HELD]; // by which each is held
    double bytes;                   // that a call must move
    double seconds[2 * GROUPS];     // a call's, by slope
    size_t timed;
    double busy;            // that all runs of this try took
    uint32_t calls, rounds; // N, and how many N the longer run has; 1: there is no other run
    bool is_peer;
} Side;

static Side student, peer;

size_t rotations(uint64_t bytes_a_call)
{
    uint64_t sets = bytes_a_call ? 2 * run_l2_bytes() / bytes_a_call + 1 : PROTOCOL_HELD;
    return sets < 2 ? 2 : sets > PROTOCOL_HELD ? PROTOCOL_HELD : sets;
}

static void add_call(Side *s, const char *function, size_t argc, const Arg *argv)
{
    cr_assert(s->held < PROTOCOL_HELD, "more than %d calls to time", PROTOCOL_HELD);
    s->function = function;
    s->argc[s->held] = argc;
    memcpy(s->argv[s->held++], argv, argc * sizeof *argv);
}

// The memory that a set goes to and comes back by is its own.
static void refuse_to_share(const Buffer *b)
{
    for (size_t n = 0; n < student.held; n++)
        for (size_t i = 0; i < student.argc[n]; i++)
            if (call_is_buffer(&student.argv[n][i]) && student.argv[n][i].buffer == b) {
                char *says =
                    text_format("The buffer %s is in two sets of this measurement.", b->name);
                check_add_fact(VERDICT_GRADER_ERROR, says, NULL,
                               "a buffer of its own for each set, in the lesson's checks");
                free(says);
            }
}

void grader_rotate(const char *name, size_t argc, const Arg *argv)
{
    for (size_t i = 0; i < argc; i++)
        if (call_is_buffer(&argv[i])) refuse_to_share(argv[i].buffer);
    check_stop_if_failed();
    check.calls++;
    add_call(&student, name, argc, argv);
}

// ---- What may go wrong ----

static void settle(const Side *s, enum outcome outcome)
{
    if (s->is_peer && (outcome != OUTCOME_ANSWER || check.answer.stage != STAGE_DONE))
        check_add_fact(VERDICT_GRADER_ERROR,
                       text_format("the peer, %s, failed: %s", s->function,
                                   *check.answer.error ? check.answer.error : "it gave no answer"),
                       NULL, NULL);
    else call_settle(outcome);
    check_stop_if_failed();
}

static void step(const Side *s, Request *request, const int *fds, size_t fd_count)
{
    check.answer = (Answer){ 0 };
    check.function = s->function;
    events_new_call(&s->session->events);
    settle(s, session_call(s->session, request, fds, fd_count, &check.answer));
}

// ---- The steps ----

static void begin(Side *s, const char *worker, double seconds)
{
    if (s->session != &check.session || !check.started) { // else calls have prepared something
        call_start(s->session, worker, seconds);
        check.function = s->function;
        settle(s, call_ready(s->session, &check.answer));
    }
    for (size_t n = 0; n < s->held; n++) {
        int fds[PROTOCOL_FDS];
        size_t fd_count = 0;
        Request *r = &s->request[n];
        *r = call_request(s->session, s->function, false, s->argc[n], s->argv[n], fds, &fd_count);
        r->action = ACTION_HOLD;
        check.answer = (Answer){ 0 };
        size_t before = fd_count;
        settle(s, owned_give(s->session, r, s->argv[n], fds, &fd_count, &check.answer));
        step(s, r, fds, fd_count);
        owned_sent(fds, before, fd_count);
    }
}

static double time_calls(Side *s, uint32_t times)
{
    enum outcome outcome;
    check.answer = (Answer){ 0 };
    check.function = s->function;
    double seconds = stopwatch(s->session, times, &outcome, &check.answer);
    if (seconds < 0) settle(s, outcome);
    s->busy += seconds;
    return seconds;
}

static double slope(Side *s)
{
    double few = time_calls(s, s->calls);
    if (s->rounds == 1) return s->seconds[s->timed++] = few / s->calls;
    double many = time_calls(s, s->rounds * s->calls);
    return s->seconds[s->timed++] = (many - few) / ((s->rounds - 1) * s->calls);
}

// A run to warm up, of whole rounds of the buffers; the next has twice as many calls, until they
// take long enough to be timed.
static void warm_side(Side *s, Warmth *w, int number)
{
    double seconds = time_calls(s, s->calls);
    warm_run(w, number, seconds, s->calls);
    if (seconds < SHORT_RUN && s->calls <= MOST_CALLS / 2) s->calls *= 2;
}

// So many calls that they take long enough, of so many seconds each.
static void choose_calls(Side *s, double each)
{
    uint32_t round = (uint32_t)s->held;
    double rounds = fmin(fmax(ceil(SHORT_RUN / fmax(each, 1e-7) / round), 1), MOST_CALLS / round);
    s->calls = (uint32_t)rounds * round;
    s->rounds = each * round < LONG_ROUND ? 2 : 1;
}

static void warm_up(void)
{
    Warmth w = { 0 };
    student.calls = (uint32_t)student.held;
    peer.calls = (uint32_t)peer.held;
    do {
        warm_side(&student, &w, 0);
        warm_side(&peer, &w, 1);
    } while (!warm_enough(&w));
    choose_calls(&student, w.quickest[0]);
    choose_calls(&peer, w.quickest[1]);
}

// What disturbs a run, a host that is slow to launch for a while, weighs less in a longer one, and
// the shorter of the two adds less of it.
static void lengthen(Side *s)
{
    if (s->rounds == 1) return;
    double run = fmax(ratio_of(s->seconds, s->timed).median, 1e-7) * s->calls;
    s->rounds = (uint32_t)fmin(fmax(LONG_RUN / run, 2), 10);
}

// One turn A/B/B/A: how much faster than the peer, as a ratio of bytes a second.
static double turn(void)
{
    double a = slope(&student), b = slope(&peer);
    b += slope(&peer);
    a += slope(&student);
    return (student.bytes / a) / (peer.bytes / b);
}

// Their number is set after the first turn.
static Ratio try_once(double ratios[GROUPS], size_t *turns)
{
    student.timed = peer.timed = 0;
    student.busy = peer.busy = 0;
    ratios[0] = turn();
    *turns = ratio_turns(student.busy + peer.busy);
    for (size_t g = 1; g < *turns; g++) ratios[g] = turn();
    return ratio_of(ratios, *turns);
}

// Takes the buffers of all calls back as the last run left them.
static void take(Side *s)
{
    for (size_t n = 0; n < s->held; n++) {
        Request request = { .magic = PROTOCOL_MAGIC, .action = ACTION_TAKE, .held = (uint32_t)n };
        step(s, &request, NULL, 0);
        settle(s, owned_take(s->session, &s->request[n], s->argv[n], &check.answer));
        settle(s, owned_free(s->session, &s->request[n], s->argv[n], &check.answer));
        call_take_buffers(s->argc[n], s->argv[n]);
        for (size_t i = 0; i < s->argc[n]; i++)
            if (call_is_buffer(&s->argv[n][i])) buffer_close(s->argv[n][i].buffer);
        check_stop_if_failed();
    }
    events_end_call(&s->session->events);
}

// ---- The peers ----

static void add_copies(void)
{
    uint64_t floats = (uint64_t)(student.bytes / 2 / 16) * 4;
    size_t sets = rotations(2 * 4 * floats);
    peer.bytes = 2.0 * 4 * floats;
    for (size_t n = 0; n < sets; n++) {
        Arg argv[] = { device(output_f32("copy", floats)), device(input_f32("original", floats)),
                       i64((int64_t)floats) };
        add_call(&peer, PEER_COPY, 3, argv);
    }
}

static void check_copies(void)
{
    for (size_t n = 0; n < peer.held; n++) {
        const Buffer *copy = peer.argv[n][0].buffer, *original = peer.argv[n][1].buffer;
        if (memcmp(copy->data, original->data, buffer_bytes(copy)) != 0)
            check_add_fact(VERDICT_GRADER_ERROR, "the peer's copy is no copy", NULL, NULL);
    }
    check_stop_if_failed();
}

// The student's calls, on buffers of the peer's own. Whether it answers right is seen when
// the test compares the student's answers: the same is expected of their twins.
static void add_twins(const char *name)
{
    peer.bytes = student.bytes;
    for (size_t n = 0; n < student.held; n++) {
        Arg argv[PROTOCOL_ARGS];
        for (size_t i = 0; i < student.argc[n]; i++) {
            argv[i] = student.argv[n][i];
            if (call_is_buffer(&argv[i])) argv[i].buffer = buffer_twin(argv[i].buffer, name);
        }
        add_call(&peer, name, student.argc[n], argv);
    }
}

// By the rule of ratio.h, of all targets that this ratio is held to.
static bool needs_another(Ratio r, const char *name)
{
    const Profile *p = run_profile();
    bool close = false;
    for (size_t i = 0; i < p->targets; i++) {
        const Target *t = &p->target[i];
        if (strcmp(t->measure, criterion_current_test->name) != 0 || strcmp(t->peer, name) != 0)
            continue;
        close |= ratio_is_close(r, t->at_least) || ratio_is_close(r, t->gold);
    }
    return close || !ratio_is_steady(r);
}

static bool is_copy(const char *name) { return strcmp(name, PEER_COPY) == 0; }

// ---- The main act ----

static json_t *side_json(Side *s)
{
    Ratio seconds = ratio_of(s->seconds, s->timed);
    return json_pack("{ss sf sf sf si si}", "function", s->function, "bytes", s->bytes, "seconds",
                     seconds.median, "quick", seconds.low, "calls", (int)s->calls, "sets",
                     (int)s->held);
}

// Both get warm, and then are timed in turns; what it came to.
static json_t *time_both(const char *name)
{
    double ratios[GROUPS];
    size_t turns;
    warm_up();
    Ratio r = try_once(ratios, &turns);
    int tries = 1;
    if (needs_another(r, name)) {
        lengthen(&student);
        lengthen(&peer);
        r = try_once(ratios, &turns);
        tries = 2;
    }
    json_t *all = json_array();
    for (size_t g = 0; g < turns; g++) json_array_append_new(all, json_real(ratios[g]));
    return json_pack("{sf sf sf sf si so so so}", "ratio", r.median, "spread", r.spread, "from",
                     r.from, "to", r.to, "tries", tries, "ratios", all, "student",
                     side_json(&student), "peer", side_json(&peer));
}

// The student's calls in turns with a peer's. The last time counts, and those before it stand
// beside it, in "before".
static json_t *measure_beside(const char *name)
{
    Session session = { 0 };
    json_t *before = json_array();
    peer = (Side){ .session = &session, .is_peer = true };
    if (is_copy(name)) add_copies();
    else add_twins(name);
    begin(&peer, run_peer(name), MEASURE_SECONDS * run_times());
    for (int n = 1; n < run_times(); n++) json_array_append_new(before, time_both(name));
    json_t *last = time_both(name);
    take(&peer);
    if (is_copy(name)) check_copies();
    session_hang_up(&session);
    if (json_array_size(before)) json_object_set(last, "before", before);
    json_decref(before);
    return last;
}

// Once beside each peer that a target of this measure names. A peer whose library is not
// here is named, and no more.
static void measure_beside_all(void)
{
    const Profile *p = run_profile();
    bool measured = false;
    for (size_t i = 0; i < p->targets; i++) {
        const char *name = p->target[i].peer;
        if (strcmp(p->target[i].measure, criterion_current_test->name) != 0
            || json_object_get(check.measured, name))
            continue;
        bool missing = !is_copy(name) && run_missing();
        json_object_set_new(check.measured, name,
                            missing ? json_pack("{ss}", "missing", run_missing())
                                    : measure_beside(name));
        measured |= !missing;
    }
    if (!measured) // the answers of calls in a row are looked at all the same
        json_object_set_new(check.measured, PEER_COPY, measure_beside(PEER_COPY));
}

// Each call once.
static void begin_and_run(double seconds)
{
    student.session = &check.session;
    begin(&student, run_worker(), seconds);
    check.started = true;
    time_calls(&student, (uint32_t)student.held);
}

void in_a_row(void)
{
    cr_assert(!check.started, "what in_a_row() makes comes before any call()");
    check.late = true;
    begin_and_run(run_profile()->seconds * run_patience());
    take(&student);
}

void measure(void)
{
    student.bytes = (double)(check.compulsory_read + check.compulsory_write) / student.held;
    check.measured = json_object();
    begin_and_run(MEASURE_SECONDS * run_times()); // what fails at once need not wait for a peer
    measure_beside_all();
    take(&student);
}
