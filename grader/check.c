// A check in Criterion's child process: it starts a session at its first call,
// turns what comes of each call into facts, and leaves its record behind.
#define _GNU_SOURCE
#include "check.h"
#include "buffer.h"
#include "process.h"
#include "record.h"
#include "run.h"
#include "session.h"
#include "text.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    Session session;
    bool started;
    json_t *facts, *notes;
    size_t errors_seen;             // of session.events.errors, in facts or notes already
    const char *function;           // of the last call, with its arguments and its answer
    size_t argc;
    const Arg *argv;
    Answer answer;
    char given[256];
    uint64_t calls, expectations, compulsory_read, compulsory_write;
    const char *(*explain)(const Mismatch *);
} now;

void grader_begin_check(void)
{
    const char *name = criterion_current_test->name;
    process_die_with_parent();
    now.facts = json_array();
    now.notes = json_array();
    buffer_seed(buffer_key(run_lesson(), buffer_key(name, buffer_key(run_seed(), 0))));
}

// A sentence's capital, unless its first word is a name ("cudaMemcpy", "05-transpose.cu").
static void capitalise(char *words)
{
    size_t n = strspn(words, "abcdefghijklmnopqrstuvwxyz");
    bool is_function = now.function && n == strlen(now.function) && !strncmp(words, now.function, n);
    if (n && words[n] == ' ' && !is_function)
        words[0] -= 'a' - 'A';
}

json_t *check_add_fact(enum verdict v, const char *says, const char *why, const char *next)
{
    bool prefixed = *now.given && v != VERDICT_NODEVICE;
    char *words = text_format("%s%s%s", prefixed ? now.given : "", prefixed ? ": " : "", says);
    if (!prefixed)
        capitalise(words);
    json_t *fact = fact_new(v, words, why, next);
    json_array_append_new(v == VERDICT_PASS ? now.notes : now.facts, fact);
    free(words);
    return fact;
}

void check_stop_if_failed(void)
{
    if (json_array_size(now.facts))
        cr_assert_fail("%s", json_string_value(json_object_get(json_array_get(now.facts, 0), "says")));
}

void check_count_expectation(void)
{
    now.expectations++;
}

const char *(*check_explain(void))(const Mismatch *)
{
    return now.explain;
}

void diagnose(const char *(*explain)(const Mismatch *))
{
    now.explain = explain;
}

void given(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(now.given, sizeof now.given, format, args);
    va_end(args);
}

void compulsory(uint64_t bytes_read, uint64_t bytes_written)
{
    now.compulsory_read += bytes_read;
    now.compulsory_write += bytes_written;
}

uint64_t counter(const char *name)
{
    return json_integer_value(json_object_get(now.session.events.call, name));
}

// ---- Facts from what the device and the worker say ----

static const char *words_of(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

// Our own harness's line is no place to send a student to.
static bool in_worker(const json_t *event)
{
    const char *file = words_of(event, "file");
    return file && strcmp(basename(file), "worker.c") == 0;
}

// The buffer of the last call that is nearest to a device address, or NULL.
static const char *buffer_near(uint64_t address)
{
    uint64_t best = UINT64_MAX;
    const char *name = NULL;
    for (size_t i = 0; i < now.argc; i++) {
        uint64_t start = now.answer.address[i];
        if (now.argv[i].kind != ARG_DEVICE || !start)
            continue;
        uint64_t end = start + buffer_bytes(now.argv[i].buffer);
        uint64_t away = address < start ? start - address : address >= end ? address - end : 0;
        if (away < best) {
            best = away;
            name = now.argv[i].buffer->name;
        }
    }
    return name;
}

// The message of an event. Where it speaks of an allocation that the harness
// made, the student knows that as an argument of the function.
static char *message_words(const json_t *event)
{
    static const char made[] = "allocation made at worker.c:";
    const char *says = words_of(event, "message"), *kind = words_of(event, "kind");
    if (!says)
        says = kind ? kind : "an error without a kind";
    const char *at = strstr(says, made), *address = words_of(event, "address");
    if (!at)
        return strdup(says);

    const char *name = address ? buffer_near(strtoull(address, NULL, 0)) : NULL;
    const char *rest = at + sizeof made - 1;
    rest += strspn(rest, "0123456789");
    return text_format("%.*s%s%s", (int)(at - says), says, name ? name : "buffer that the function was given", rest);
}

static void add_event(json_t *event)
{
    static const char *const places[] = {"kind", "kernel", "line", "block", "thread", "other", "count"};
    enum verdict v = verdict_of_event(words_of(event, "kind"));
    if (in_worker(event) && (v == VERDICT_MEMORY || v == VERDICT_PASS))
        return;                     // what the harness could not free, or repeats of an error

    char *says = message_words(event);
    json_t *fact = check_add_fact(v, says, words_of(event, "why"), words_of(event, "next"));
    free(says);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (json_object_get(event, places[i]) && !(in_worker(event) && i == 2))
            json_object_set(fact, places[i], json_object_get(event, places[i]));
    if (words_of(event, "file") && !in_worker(event)) {
        char *file = text_clean(words_of(event, "file"));
        json_object_set_new(fact, "file", json_string(file));
        free(file);
    }
}

static void add_new_events(void)
{
    json_t *errors = now.session.events.errors;
    for (; now.errors_seen < json_array_size(errors); now.errors_seen++)
        add_event(json_array_get(errors, now.errors_seen));
}

// Has the device said already why the program could not go on?
static bool explained(void)
{
    size_t i;
    json_t *fact;
    json_array_foreach(now.facts, i, fact)
        if (fact_verdict(fact) <= VERDICT_CRASH)
            return true;
    return false;
}

static const char *limit_words(void)
{
    static char words[64];
    snprintf(words, sizeof words, "there was no answer within %g seconds", run_profile()->seconds);
    return words;
}

static void add_end(void)
{
    const Events *e = &now.session.events;
    char says[256];
    if (e->signal) {
        snprintf(says, sizeof says, "the program died in %s: %s (signal %d)", now.function,
                 strsignal(e->signal), e->signal);
        bool pointer = e->signal == SIGSEGV || e->signal == SIGBUS;
        check_add_fact(VERDICT_CRASH, says, pointer ? "The host followed a pointer that leads nowhere: "
                       "null, past the end of an array, or to an input, which can only be read." : NULL,
                       NULL);
        return;
    }
    snprintf(says, sizeof says, "the program ended with exit status %d, before %s returned",
             e->status, now.function);
    check_add_fact(VERDICT_PROTOCOL, says, e->status && now.session.output_bytes
                   ? "It printed what stands above: look for the reason there."
                   : "Your function must return to the grader, which calls it again and again in "
                     "one program.", NULL);
}

// What a session's outcome says against the program, unless the device has said it better.
static void add_outcome(enum outcome outcome)
{
    const Events *e = &now.session.events;
    if (outcome == OUTCOME_LOST)
        check_add_fact(VERDICT_GRADER_ERROR, e->malformed ? e->malformed :
                       "the device ended without a word", NULL, NULL);
    if (explained())
        return;
    if (outcome == OUTCOME_ENDED)
        add_end();
    if (outcome == OUTCOME_LATE)
        check_add_fact(VERDICT_TIMEOUT, limit_words(),
                       "A kernel is stopped by its number of instructions, so the host's code "
                       "loops, or waits for something that never comes.", NULL);
    if (outcome == OUTCOME_NONSENSE)
        check_add_fact(VERDICT_PROTOCOL, "the grader's socket carried something that is no answer",
                       "Only the harness may write to it.", NULL);
}

static void add_stage(const Answer *a)
{
    char says[512];
    if (a->stage == STAGE_FUNCTION) {
        snprintf(says, sizeof says, "the program has no function %s", now.function);
        check_add_fact(VERDICT_BUILD, says, "The function must be there under that name, "
                       "extern \"C\", as the lesson's header declares it.", NULL);
        return;
    }
    if (a->stage == STAGE_DONE || explained())
        return;

    // An error that nobody looked at is no crash: a launch or a copy was refused, so the answer
    // cannot be what the function thinks.
    enum verdict v = a->stage == STAGE_PREPARE ? VERDICT_GRADER_ERROR
                   : a->stage == STAGE_CALL ? VERDICT_WRONG : VERDICT_CRASH;
    const char *what = a->stage == STAGE_PREPARE ? "the harness could not prepare" :
                       a->stage == STAGE_CALL ? "an error was left unseen in" :
                       "the device failed in";
    char *error = text_clean(a->error);
    snprintf(says, sizeof says, "%s %s: %s", what, now.function, error);
    check_add_fact(v, says, a->stage == STAGE_CALL ?
                   "Every CUDA call can fail, and a launch returns nothing: its error waits for "
                   "cudaGetLastError()." : NULL,
                   a->stage == STAGE_CALL ? "look at the error of every call, CHECK(...)" : NULL);
    free(error);
}

// ---- The call ----

static Request request_for(const char *name, bool returns_i32, size_t argc, const Arg *argv,
                           int *fds, size_t *fd_count)
{
    Request r = {.magic = PROTOCOL_MAGIC, .argc = argc, .returns_i32 = returns_i32};
    cr_assert(argc <= PROTOCOL_ARGS && strlen(name) < sizeof r.function, "too long a call of %s", name);
    strcpy(r.function, name);
    for (size_t i = 0; i < argc; i++) {
        const Arg *a = &argv[i];
        float narrow = a->f;
        r.arg[i].pass = a->kind;
        switch (a->kind) {
        case ARG_DEVICE:
        case ARG_HOST:
            // The simulated device checks bounds by itself, and says more: no guard zones there.
            cr_assert(buffer_give(a->buffer, a->kind == ARG_DEVICE, false, &r.arg[i], fds, fd_count),
                      "no memory for %s", a->buffer->name);
            break;
        case ARG_I32:
        case ARG_I64:
            r.arg[i].bits = (uint64_t)a->i;
            break;
        case ARG_F32:
            memcpy(&r.arg[i].bits, &narrow, sizeof narrow);
            break;
        case ARG_F64:
            memcpy(&r.arg[i].bits, &a->f, sizeof a->f);
            break;
        }
    }
    return r;
}

static void take_buffers(size_t argc, const Arg *argv)
{
    for (size_t i = 0; i < argc; i++) {
        if (argv[i].kind != ARG_DEVICE && argv[i].kind != ARG_HOST)
            continue;
        enum verdict v;
        char *damage = buffer_take(argv[i].buffer, argv[i].kind == ARG_DEVICE, &v);
        if (damage)
            check_add_fact(v, damage, NULL, NULL);
        free(damage);
    }
}

// When one check has run out of time by the clock, the others would too, one after the other:
// a file in the run's folder tells them not to begin.
static char *late_path(void)
{
    return text_format("%s/late", run_folder());
}

static void tell_others(void)
{
    char *path = late_path();
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    free(path);
}

static void stop_if_another_was_late(void)
{
    char *path = late_path();
    bool late = access(path, F_OK) == 0;
    free(path);
    if (!late)
        return;
    json_t *fact = check_add_fact(VERDICT_TIMEOUT, "not begun, as another check ran out of time",
                                  NULL, NULL);
    json_object_set_new(fact, "skipped", json_true());
    check_stop_if_failed();
}

static void start_session(void)
{
    stop_if_another_was_late();

    const Profile *p = run_profile();
    const char *problem = session_start(&now.session, run_device(), run_worker(), p->instructions,
                                        p->seconds);
    if (problem)
        check_add_fact(VERDICT_NODEVICE, problem, "The simulated device cannot be started.",
                       "make doctor");
    else
        now.started = true;
    check_stop_if_failed();
}

int32_t grader_call(const char *name, bool returns_i32, size_t argc, const Arg *argv)
{
    int fds[PROTOCOL_FDS];
    size_t fd_count = 0;

    now.function = name;
    now.argc = argc;
    now.argv = argv;
    now.answer = (Answer){0};
    now.calls++;
    if (!now.started)
        start_session();
    Request request = request_for(name, returns_i32, argc, argv, fds, &fd_count);
    enum outcome outcome = session_call(&now.session, &request, fds, fd_count, &now.answer);

    add_new_events();
    add_outcome(outcome);
    if (outcome == OUTCOME_ANSWER) {
        add_stage(&now.answer);
        if (now.answer.stage == STAGE_DONE)
            take_buffers(argc, argv);
    }
    if (outcome == OUTCOME_LATE)
        tell_others();
    for (size_t i = 0; i < argc; i++)
        if (argv[i].kind == ARG_DEVICE || argv[i].kind == ARG_HOST)
            buffer_close(argv[i].buffer);
    check_stop_if_failed();
    now.argc = 0;                   // its arguments live no longer than the call
    return now.answer.returned;
}

// ---- The end ----

static void end_session(void)
{
    bool failed = json_array_size(now.facts) > 0;
    enum outcome outcome = session_end(&now.session);
    now.given[0] = 0;
    add_new_events();
    if (failed)
        return;                     // then how the rest ended is of no interest

    if (outcome == OUTCOME_LOST || outcome == OUTCOME_LATE)
        add_outcome(outcome);
    else if (now.session.events.signal || now.session.events.status) {
        now.function = "its last steps";
        add_end();
    }
}

// What the program printed, cleaned line by line.
static char *clean_output(void)
{
    char *clean, *text = now.session.output, *line;
    size_t bytes;
    FILE *f = open_memstream(&clean, &bytes);
    while (text && (line = strsep(&text, "\n"))) {
        char *words = text_clean(line);
        fprintf(f, "%s%s", words, text ? "\n" : "");
        free(words);
    }
    fclose(f);
    return clean;
}

static json_t *record(void)
{
    const Events *e = &now.session.events;
    char *output = clean_output();
    json_t *r = json_pack(
        "{ss si sI sI sI sI sI sO? sO? sO? sf sO sO ss sb}",
        "check", criterion_current_test->name, "source_line", (int)criterion_current_test->data->line_,
        "calls", (json_int_t)now.calls, "expectations", (json_int_t)now.expectations,
        "compulsory_read", (json_int_t)now.compulsory_read,
        "compulsory_write", (json_int_t)now.compulsory_write, "kernels", (json_int_t)e->kernels,
        "counters", e->counters, "estimates", e->estimates, "lines", e->lines, "time_ns", e->time_ns,
        "facts", now.facts, "notes", now.notes, "output", output,
        "output_cut", now.session.output_cut);
    free(output);
    return r;
}

void grader_end_check(void)
{
    if (now.started)
        end_session();
    if (json_array_size(now.facts) == 0 && (!now.calls || !now.expectations))
        check_add_fact(VERDICT_GRADER_ERROR, "the check calls nothing, or expects nothing", NULL, NULL);

    char *path = text_format("%s/%s.json", run_folder(), criterion_current_test->name);
    cr_expect(json_write(path, record()), "no record %s", path);
    free(path);
}
