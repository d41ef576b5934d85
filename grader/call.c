// A check's calls: the first starts the session, each sends a request, and what
// comes of it is blamed on somebody or taken as the answer.
#define _GNU_SOURCE
#include "buffer.h"
#include "check.h"
#include "owned.h"
#include "run.h"
#include "text.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int device_count(void) { return run_devices(); }

bool call_is_buffer(const Arg *a)
{
    return a->kind == ARG_DEVICE || a->kind == ARG_HOST || a->kind == ARG_SPREAD
        || a->kind == ARG_SCRATCH || a->kind == ARG_PINNED;
}

// One argument as it goes to the worker; appends a buffer's memory files to fds.
static RequestArg pass(const Session *s, const Arg *a, int *fds, size_t *fd_count)
{
    RequestArg r = { .pass = a->kind };
    float narrow = a->f;
    bool given;
    switch (a->kind) {
    case ARG_SPREAD:
        cr_assert(a->parts >= 1 && a->parts <= (uint32_t)device_count(), "there are no %u devices",
                  a->parts);
        // fall through
    case ARG_DEVICE:
    case ARG_SCRATCH:
    case ARG_PINNED:
    case ARG_HOST:
        // The simulated device checks bounds by itself, and says more: guard zones on a GPU.
        given = buffer_give(a->buffer, a->kind != ARG_HOST, a->kind == ARG_SPREAD ? a->parts : 1,
                            run_on_gpu(), &r, fds, fd_count);
        if (a->kind == ARG_SPREAD || a->kind == ARG_PINNED
            || (a->kind == ARG_SCRATCH && !run_on_gpu()))
            r.pass = a->kind;
        cr_assert(given, "no memory for %s", a->buffer->name);
        if (owned(s, a)) *fd_count -= 2; // which the worker has no use for
        break;
    case ARG_I32:
    case ARG_I64: r.bits = (uint64_t)a->i; break;
    case ARG_F32: memcpy(&r.bits, &narrow, sizeof narrow); break;
    case ARG_F64: memcpy(&r.bits, &a->f, sizeof a->f); break;
    }
    return r;
}

void call_take_buffers(size_t argc, const Arg *argv)
{
    for (size_t i = 0; i < argc; i++) {
        if (!call_is_buffer(&argv[i])) continue;
        enum verdict v;
        char *damage = buffer_take(argv[i].buffer, argv[i].kind != ARG_HOST, &v);
        if (damage)
            check_add_fact(v, damage, NULL,
                           v == VERDICT_WRONG ? "write to the outputs alone" : NULL);
        else blame_writers(&argv[i], argc, argv);
        blame_made(&argv[i]);
        free(damage);
    }
    blame_journey(argc, argv);
}

// When one check has run out of time by the clock, the others would too, one after the other:
// a file in the run's folder tells them not to begin.
static char *late_path(void) { return text_format("%s/late", run_folder()); }

static void tell_others(void)
{
    char *path = late_path();
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    free(path);
}

static void stop_if_another_was_late(void)
{
    char *path = late_path();
    bool late = access(path, F_OK) == 0;
    free(path);
    if (!late) return;
    json_t *fact = check_add_fact(VERDICT_TIMEOUT,
                                  "not started, because another check ran out of time", NULL, NULL);
    json_object_set_new(fact, "skipped", json_true());
    check_stop_if_failed();
}

void call_start(Session *s, const char *worker, double seconds)
{
    stop_if_another_was_late();
    Terms terms = {
        .seconds = seconds,
        .instructions = run_profile()->instructions,
        .shuffled = check.shuffled,
        .late = check.late,
        .timeline = run_on_gpu() ? NULL : run_timeline(criterion_current_test->name),
    };
    const char *problem = session_start(s, run_device(), worker, &terms);
    if (problem)
        check_add_fact(VERDICT_NODEVICE, problem,
                       run_on_gpu() ? "Nothing can be started on the GPU."
                                    : "The simulated device cannot be started.",
                       "make doctor");
    check_stop_if_failed();
}

Request call_request(const Session *s, const char *name, bool returns_i32, size_t argc,
                     const Arg *argv, int *fds, size_t *fd_count)
{
    Request request = { .magic = PROTOCOL_MAGIC, .argc = argc, .returns_i32 = returns_i32 };
    cr_assert(argc <= PROTOCOL_ARGS, "%s has too many arguments", name);
    cr_assert(strlen(name) < PROTOCOL_NAME, "%s is too long a name", name);
    strcpy(request.function, name);
    for (size_t i = 0; i < argc; i++) request.arg[i] = pass(s, &argv[i], fds, fd_count);
    return request;
}

enum outcome call_ready(Session *s, Answer *answer)
{
    Request request = { .magic = PROTOCOL_MAGIC, .action = ACTION_READY };
    return s->reports ? session_call(s, &request, NULL, 0, answer) : OUTCOME_ANSWER;
}

static bool is_done(enum outcome outcome)
{
    return outcome == OUTCOME_ANSWER && check.answer.stage == STAGE_DONE;
}

// The array of an argument, for the trace.
static void trace_array(uint32_t argument, const RequestArg *given)
{
    const Arg *a = &check.argv[argument];
    for (uint32_t p = 0; call_is_buffer(a) && p < given->parts; p++)
        if (check.address[argument][p])
            trace_add_array(
                &check.session.events.trace,
                (TracedArray){ .argument = argument,
                               .part = p,
                               .name = a->buffer->name,
                               .address = check.address[argument][p] + given->guard,
                               .bytes = given->bytes,
                               .of_host = a->kind == ARG_HOST || a->kind == ARG_PINNED });
}

// By owned_give for what is owned, and by the worker for the rest.
static void note_addresses(const Request *request)
{
    for (uint32_t i = 0; i < request->argc; i++) {
        memcpy(check.address[i],
               request->arg[i].address[0] ? request->arg[i].address : check.answer.address[i],
               sizeof check.address[i]);
        trace_array(i, &request->arg[i]);
    }
}

static enum outcome exchange(const char *name, bool returns_i32, size_t argc, const Arg *argv)
{
    int fds[PROTOCOL_FDS];
    size_t fd_count = 0, before;
    Session *s = &check.session;
    Request request = call_request(s, name, returns_i32, argc, argv, fds, &fd_count);
    request.action = ACTION_CALL;
    request.ranged = s->events.ranged;
    request.last_first = check.calls % 2 == 0; // in turns: the first to be read has the least time
    events_new_call(&s->events);
    before = fd_count;
    enum outcome outcome = owned_give(s, &request, argv, fds, &fd_count, &check.answer);
    if (is_done(outcome)) outcome = owned_range(s, true, &check.answer);
    if (is_done(outcome)) outcome = session_call(s, &request, fds, fd_count, &check.answer);
    owned_sent(fds, before, fd_count);
    note_addresses(&request);
    if (is_done(outcome)) outcome = owned_range(s, false, &check.answer);
    if (is_done(outcome)) outcome = owned_take(s, &request, argv, &check.answer);
    if (is_done(outcome)) outcome = owned_free(s, &request, argv, &check.answer);
    events_end_call(&s->events);
    return outcome;
}

void call_lines(void)
{
    Session *s = &check.session;
    WireRequest request = { .version = WIRE_VERSION, .op = WIRE_SITES };
    WireReply reply;
    if (check.started && s->reports && !s->events.ended) session_ask(s, &request, -1, &reply, NULL);
}

void shuffle_blocks(void)
{
    cr_assert(!check.started, "shuffle_blocks() comes before the first call");
    check.shuffled = true;
}

void call_settle(enum outcome outcome)
{
    blame_events();
    blame_outcome(outcome);
    if (outcome == OUTCOME_ANSWER) blame_stage();
    if (outcome == OUTCOME_LATE) tell_others();
}

// Seconds that the check may take, from its first call on.
static double limit(void)
{
    if (check.is_measure) return MEASURE_SECONDS * run_times();
    return run_profile()->seconds * run_patience();
}

int32_t grader_call(const char *name, bool returns_i32, size_t argc, const Arg *argv)
{
    check.function = name;
    check.argc = argc;
    check.argv = argv;
    check.answer = (Answer){ 0 };
    check.calls++;
    enum outcome outcome = OUTCOME_ANSWER;
    if (!check.started) {
        call_start(&check.session, run_worker(), limit());
        check.started = true;
        outcome = call_ready(&check.session, &check.answer);
    }
    if (is_done(outcome)) outcome = exchange(name, returns_i32, argc, argv);

    call_settle(outcome);
    if (is_done(outcome)) {
        blame_return();
        call_take_buffers(argc, argv);
    }
    for (size_t i = 0; i < argc; i++)
        if (call_is_buffer(&argv[i])) buffer_close(argv[i].buffer);
    check_stop_if_failed();
    return check.answer.returned;
}
