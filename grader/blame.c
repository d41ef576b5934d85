// Who is to blame: turns the device's events, and how a call ended, into facts.
#define _GNU_SOURCE
#include "buffer.h"
#include "reason.h"
#include "check.h"
#include "confine.h"
#include "event_words.h"
#include "owned.h"
#include "record.h"
#include "run.h"
#include "text.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What the device says ----

static const char *words_of(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

// Two operations that nothing orders, one of them the harness's, which stands for the caller: the
// student is shown the other's place.
static const char *tell_caller(json_t *event)
{
    json_t *other = json_object_get(event, "other");
    if (!other || event_by_harness(event) == event_by_harness(other)) return words_of(event, "why");
    if (event_by_harness(event)) {
        json_object_set(event, "file", json_object_get(other, "file"));
        json_object_set(event, "line", json_object_get(other, "line"));
        json_object_del(event, "caller");
    }
    json_object_del(event, "other");
    return "One of the two accesses is the caller's: it fills and reads its arrays in each "
           "device's default stream, and waits for nothing else.";
}

// Where it happened, and to whom.
static void keep_place(json_t *fact, const json_t *event)
{
    static const char *const kept[] = { "kind", "cause", "kernel", "block", "thread", "count" };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_get(event, kept[i]))
            json_object_set(fact, kept[i], json_object_get(event, kept[i]));
    if (json_object_get(event, "other")) {
        json_t *other = json_copy(json_object_get(event, "other"));
        json_object_del(other, "caller"); // whose path is another in each run
        json_object_set_new(fact, "other", other);
    }
    if (words_of(event, "file") && !event_by_harness(event)) {
        char *file = text_clean(words_of(event, "file"));
        json_object_set_new(fact, "file", json_string(file));
        json_object_set(fact, "line", json_object_get(event, "line"));
        free(file);
    }
}

static void add_fact_of(json_t *event, enum verdict v)
{
    Reason reason = reason_of_error(event);
    char *says = event_says(event);
    char *why = event_why(event, reason.why ? reason.why : tell_caller(event));
    json_t *fact =
        check_add_fact(v, says, why, reason.next ? reason.next : words_of(event, "next"));
    free(says);
    free(why);
    free(reason.why);
    free(reason.next);
    keep_place(fact, event);
    check_keep_call(fact, reason.at);
}

// Did the host touch what a kernel or a copy may still write?
static bool is_touched_early(json_t *event)
{
    const char *cause = words_of(event, "cause");
    return cause && strncmp(cause, "host_touches_what_", 18) == 0;
}

// What the grader or the harness could not free, as a call did not come to its end. Where all calls
// did, they have freed everything, and only the program can have allocated it, by whatever return
// address: the harness is in its hands.
static bool is_our_leak(const json_t *event)
{
    return kind_of(event) == KIND_LEAK && (event_by_owner(event) || !check.over);
}

static void add_event(json_t *event)
{
    enum verdict v = verdict_of_kind(kind_of(event));
    // Not what the harness could not free, or calls of its own that failed as earlier ones had; nor
    // what it touches while the device is still busy, which blame_return() tells.
    if (event_by_harness(event)
        && (is_our_leak(event) || v == VERDICT_PASS || is_touched_early(event)))
        return;
    add_fact_of(event, v);
}

// The last call that the device refused, which is a note; or NULL.
static json_t *refused_call(void)
{
    const json_t *errors = check.session.events.errors;
    for (size_t i = json_array_size(errors); i-- > 0;) {
        json_t *event = json_array_get(errors, i);
        if (!event_by_harness(event) && verdict_of_kind(kind_of(event)) == VERDICT_PASS)
            return event;
    }
    return NULL;
}

void blame_events(void)
{
    json_t *errors = check.session.events.errors;
    for (; check.errors_seen < json_array_size(errors); check.errors_seen++)
        add_event(json_array_get(errors, check.errors_seen));
}

void blame_return(void)
{
    bool pinned = false;
    for (size_t i = 0; i < check.argc; i++) pinned |= check.argv[i].kind == ARG_PINNED;
    if (!pinned || !(check.session.events.busy_ns > 0)) return;
    char *says = text_format("%s returned %.1f µs before the device was done", check.function,
                             check.session.events.busy_ns / 1e3);
    check_add_fact(VERDICT_RACE, says,
                   "Its caller reads the answer as soon as it has returned, and the last copies "
                   "were still under way.",
                   "wait for every stream that has work before you return "
                   "(cudaStreamSynchronize)");
    free(says);
}

// ---- Who wrote the answer ----

static void suspect(char *says, const char *next)
{
    check_suspect(says, "The arrays are on the device, and a kernel must write the answer.", next);
    free(says);
}

// "out was last written by ..., all of it"
static char *written_words(const Buffer *b, const char *by, uint64_t words)
{
    uint64_t all = 0;
    for (int n = 0; n < WRITERS; n++) all += b->store->written[n];
    return words == all
             ? text_format("%s was last written by %s, all of it", b->name, by)
             : text_format("%s was last written by %s, %llu of its %llu words of 4 bytes", b->name,
                           by, (unsigned long long)words, (unsigned long long)all);
}

// Is the answer an input as it is? Then a copy is the right way.
static bool is_an_input(const Buffer *b, size_t argc, const Arg *argv)
{
    for (size_t i = 0; i < argc; i++) {
        const Buffer *in = argv[i].buffer;
        if (argv[i].kind == ARG_DEVICE && !in->store->output && buffer_bytes(in) == buffer_bytes(b)
            && memcmp(in->data, b->data, buffer_bytes(b)) == 0)
            return true;
    }
    return false;
}

// Words of the output that are as they were before the call.
static uint64_t untouched_words(const Buffer *b)
{
    const uint32_t poison = POISON, *word = b->data;
    uint64_t count = 0;
    for (size_t n = 0; n < (buffer_bytes(b) + 3) / 4; n++) {
        size_t rest = buffer_bytes(b) - 4 * n;
        count += memcmp(&word[n], &poison, rest < 4 ? rest : 4) == 0;
    }
    return count;
}

void blame_writers(const Arg *a, size_t argc, const Arg *argv)
{
    const uint64_t *words = a->buffer->store->written;
    if (!a->buffer->store->output || a->kind != ARG_DEVICE) return;
    if (words[WRITER_HOST])
        suspect(written_words(a->buffer, "a copy from the host", words[WRITER_HOST]),
                "let a kernel write it");
    if (words[WRITER_OWNER] && words[WRITER_OWNER] > untouched_words(a->buffer))
        suspect(written_words(a->buffer, "another process", words[WRITER_OWNER]),
                "let a kernel of the function's own write it");
    if (words[WRITER_MOVED] && !is_an_input(a->buffer, argc, argv))
        suspect(written_words(a->buffer, "a copy of an input", words[WRITER_MOVED]),
                "let a kernel move it");
}

// So few bytes may well be what a function finishes on the host; and so small a part of its answer,
// if that is the host's. So many bytes of parameters a launch has for its pointers and sizes. And
// where the arrays of several devices have so few bytes, the words by which blocks wait for one
// another may be half as many: eight devices of one block each store 4 KiB, a sector a word, when
// they meet twice. More blocks have more of the arrays: 4 KiB a block, and 256 bytes of such words.
enum { FEW_BYTES = 1 << 10, SMALL_PART = 16, PLAIN_PARAMETERS = 128, WAITING_WORDS = 8 << 10 };

static bool is_much(uint64_t bytes, uint64_t of)
{
    return bytes > FEW_BYTES && of > FEW_BYTES && SMALL_PART * bytes >= of;
}

void blame_made(const Arg *a)
{
    const Buffer *b = a->buffer;
    uint64_t words;
    if ((a->kind != ARG_HOST && a->kind != ARG_PINNED) || !b->store->output) return;
    if (!owned_compare(&check.session, b, &words) || !is_much(4 * words, buffer_bytes(b))) return;
    char *says = text_format("%llu of the %zu words of %s are not what a kernel wrote",
                             (unsigned long long)words, buffer_bytes(b) / 4, b->name);
    check_suspect(says,
                  "A kernel must write the answer, and the host takes it from the device as it is.",
                  "let a kernel compute it, and copy what the kernel wrote");
    free(says);
}

// Bytes of a call's arrays, on the devices and the host's, and those that it took to the host and
// from there to the devices, whatever carried them. If the answer is to be the host's: of those
// that went to the devices, those that the host has worked out.
typedef struct Journey {
    uint64_t in, out, hosts, down, up;
    bool several, to_host;
} Journey;

static uint64_t less(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t beyond(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// False: there is no answer.
static bool find_arrays(Journey *j, size_t argc, const Arg *argv)
{
    for (size_t i = 0; i < argc; i++) {
        if (!call_is_buffer(&argv[i]) || argv[i].kind == ARG_SCRATCH) continue;
        bool hosts = argv[i].kind == ARG_HOST || argv[i].kind == ARG_PINNED,
             output = argv[i].buffer->store->output;
        j->to_host |= hosts && output;
        *(hosts && !output ? &j->hosts : output ? &j->out : &j->in) += buffer_bytes(argv[i].buffer);
        j->several |= argv[i].kind == ARG_SPREAD;
    }
    return j->out > 0;
}

// Managed memory is the host's and the device's at once. To the device went the words that the host
// has changed there, as far as kernels and copies have read any. To the host went the words that
// the device has changed: it can look there without moving a page (through a second mapping).
// Copies between devices that cannot reach one another go by the host.
static void find_journey(Journey *j)
{
    uint64_t by_host = counter("link__bytes_by_host.sum"),
             read = counter("managed_memory__bytes_read.sum") + counter("memcpy__bytes_dtod.sum");
    j->down = beyond(counter("memcpy__bytes_dtoh.sum"), by_host)
            + counter("crossing__bytes_dtoh.sum") + counter("crossing__bytes_shown.sum");
    j->up = beyond(counter("memcpy__bytes_htod.sum"), by_host + j->hosts)
          + counter("crossing__bytes_htod.sum") + less(counter("crossing__bytes_pages.sum"), read)
          + beyond(counter("launch__parameter_bytes.sum"),
                   PLAIN_PARAMETERS * counter("launch__count"));
    if (j->several && j->in < WAITING_WORDS) return;
    j->down += counter("pinned_memory__bytes_write.sum");
    j->up += counter("pinned_memory__bytes_read.sum");
}

// Where the inputs are few, or the answer is, one way says it: but not if so few bytes would. Few
// bytes of an answer come unseen, so that the host must not have even a small part of the inputs:
// what it has not seen the device has worked out.
static bool by_way_of_the_host(const Journey *j)
{
    bool few_in = j->in < FEW_BYTES, few_out = j->out <= FEW_BYTES;
    if (few_out && j->in < 4 * FEW_BYTES) return false;
    if (few_out) return is_much(j->down, j->in);
    return (few_in || 2 * j->down >= less(j->in, j->out)) && 2 * j->up >= j->out;
}

static void suspect_work(uint64_t bytes)
{
    char *says = text_format("%llu bytes that went to the device are neither what %s was given nor "
                             "what a kernel made",
                             (unsigned long long)bytes, check.function);
    check_suspect(says,
                  "The host worked them out, or arranged them anew. The device must compute the "
                  "answer from the arrays as they are.",
                  "bring the arrays to the device as they are, in pieces of 128 bytes or more, and "
                  "let a kernel do the rest");
    free(says);
}

static void suspect_pinned(uint64_t bytes)
{
    char *says = text_format("kernels read %llu bytes of pinned memory where it is, over the bus",
                             (unsigned long long)bytes);
    check_suspect(says,
                  "The host may write there at any time, so that nobody can say who worked out the "
                  "answer.",
                  "copy the arrays to memory of the device, and let kernels read them there");
    free(says);
}

// The inputs are the host's: only what it has worked out says anything, and what kernels read where
// the host may still write.
static void blame_hosts_work(const Journey *j)
{
    uint64_t read = counter("managed_memory__bytes_read.sum") + counter("memcpy__bytes_dtod.sum"),
             pinned = counter("crossing__bytes_pinned.sum"),
             up = counter("crossing__bytes_hosts.sum") + counter("crossing__bytes_htod.sum")
                + less(counter("crossing__bytes_pages.sum"), read);
    if (is_much(up, j->out)) suspect_work(up);
    else if (is_much(up + pinned, j->out)) suspect_pinned(pinned);
}

static bool suspect_arranged(const Journey *j)
{
    uint64_t bytes = counter("crossing__bytes_small.sum");
    if (j->out <= FEW_BYTES || 2 * bytes < j->out) return false;
    char *says = text_format("copies within the device moved %llu bytes in pieces of less than 16 "
                             "bytes",
                             (unsigned long long)bytes);
    check_suspect(says,
                  "The copy engine arranged them anew, by the addresses that the host gave it. A "
                  "kernel must do that.",
                  "copy larger pieces, and let a kernel move single elements");
    free(says);
    return true;
}

void blame_journey(size_t argc, const Arg *argv)
{
    Journey j = { 0 };
    if (!check.session.reports || !find_arrays(&j, argc, argv)) return;
    if (j.to_host) {
        blame_hosts_work(&j);
        return;
    }
    find_journey(&j);
    if (suspect_arranged(&j) || !by_way_of_the_host(&j)) return;
    suspect(text_format("%llu bytes went to the host in the call, or to memory that it sees, and "
                        "%llu came from there",
                        (unsigned long long)j.down, (unsigned long long)j.up),
            "compute on the device, without the host");
}

// ---- What the session and the worker say ----

// Has the device said already why the program could not go on?
static bool explained(void)
{
    size_t i;
    json_t *fact;
    json_array_foreach(check.facts, i, fact) if (fact_verdict(fact) <= VERDICT_CRASH) return true;
    return false;
}

static const char *limit_words(void)
{
    static char words[64];
    snprintf(words, sizeof words, "there was no answer within %g seconds",
             check.session.clock.seconds);
    return words;
}

static void blame_signal(int signal)
{
    const char *why = NULL, *next = NULL;
    if (signal == SIGSEGV || signal == SIGBUS) {
        next = "look at the pointers that the host follows: it cannot use device memory, and must "
               "not write to inputs";
        why = "The host followed a pointer that is null, goes past the end of an array, or points "
              "into an input, which can only be read.";
    }
    if (signal == SIGFPE) {
        next = "print the divisors for these arguments, and find the one that is 0";
        why = "An integer was divided by 0, or its remainder taken: look for a divisor that these "
              "arguments "
              "make 0.";
    }
    char *says = text_format("the program died in %s: %s (signal %d)", check.function,
                             strsignal(signal), signal);
    check_add_fact(VERDICT_CRASH, says, why, next);
    free(says);
}

// A program that ends because a call failed has answered as the contract asks: it is the call that
// is told, and that CUDA refused it is the verdict.
static void blame_exit(int status)
{
    json_t *refused = status ? refused_call() : NULL;
    if (refused) {
        json_array_clear(check.notes);
        add_fact_of(refused, VERDICT_CRASH);
        return;
    }
    const char *why = "Your function must return to the grader, which calls it again and again in "
                      "one program.",
               *next = "return, where it ends the program";
    if (status && check.session.output_bytes) {
        why = "Its output is above: look for the reason there.";
        next = "fix what it reports";
    }
    char *says = text_format("the program ended with exit status %d, before %s returned", status,
                             check.function);
    check_add_fact(VERDICT_PROTOCOL, says, why, next);
    free(says);
}

static void blame_lateness(void)
{
    Reason reason = reason_of_lateness();
    const char *why = run_on_gpu() ? "The host's code or a kernel loops, or waits for something "
                                     "that never comes."
                                   : "The host's code loops, or waits for something that never "
                                     "comes; or a kernel does far more than the task needs.";
    const char *next = "print a line to stderr before each loop, each wait and each call of CUDA: "
                       "the last line tells where the program waits";
    check_add_fact(VERDICT_TIMEOUT, limit_words(), reason.why ? reason.why : why,
                   reason.next ? reason.next : next);
    free(reason.why);
    free(reason.next);
}

void blame_outcome(enum outcome outcome)
{
    const Events *e = &check.session.events;
    const char *lost = e->malformed ? e->malformed : "the device ended without a word";
    if (outcome == OUTCOME_LOST)
        check_add_fact(VERDICT_GRADER_ERROR, lost,
                       check.session.output_bytes ? "Its output is above." : NULL, "make doctor");
    const char *failure = outcome == OUTCOME_ENDED ? confine_failure(e->status) : NULL;
    if (failure)
        check_add_fact(VERDICT_GRADER_ERROR, failure,
                       check.session.output_bytes ? "What it says is above." : NULL,
                       "type the same again; if that does not help: make doctor");
    if (failure || explained()) return;
    if (outcome == OUTCOME_ENDED && e->signal) blame_signal(e->signal);
    else if (outcome == OUTCOME_ENDED) blame_exit(e->status);
    if (outcome == OUTCOME_LATE) blame_lateness();
    if (outcome == OUTCOME_NONSENSE)
        check_add_fact(VERDICT_PROTOCOL, "the grader's socket carried something that is no answer",
                       "Only the harness may write to it.", NULL);
}

void blame_end(enum outcome outcome)
{
    const Events *e = &check.session.events;
    check.function = "the end of the program";
    if (outcome != OUTCOME_ENDED || e->signal || e->status) blame_outcome(outcome);
}

static void blame_error(enum verdict v, const char *what)
{
    char *error = text_clean(check.answer.error);
    char *says = text_format("%s %s: %s", what, check.function, error);
    check_add_fact(v, says, NULL, NULL);
    free(error);
    free(says);
}

// What a GPU says of an error is its number alone (cudaError_t).
static enum verdict device_verdict(int cuda)
{
    enum { ILLEGAL_ADDRESS = 700, LAUNCH_TIMEOUT = 702, MISALIGNED_ADDRESS = 716 };
    return cuda == ILLEGAL_ADDRESS || cuda == MISALIGNED_ADDRESS ? VERDICT_BOUNDS
         : cuda == LAUNCH_TIMEOUT                                ? VERDICT_TIMEOUT
                                                                 : VERDICT_CRASH;
}

// A launch that the device refused, and whose error the program did not read: the device has said
// why.
static json_t *add_refused(const json_t *refused)
{
    return check_add_fact(
        VERDICT_CRASH, words_of(refused, "message"),
        "The program did not check the error. A launch returns nothing: its error waits "
        "for cudaGetLastError().",
        words_of(refused, "next"));
}

// No crash: a call was refused, and the answer cannot be what it should.
static json_t *add_unseen(void)
{
    char *error = text_clean(check.answer.error);
    char *says = text_format("an error was left unseen in %s: %s", check.function, error);
    json_t *fact = check_add_fact(
        VERDICT_WRONG, says,
        "Every CUDA call can fail, and a launch returns nothing: its error waits for "
        "cudaGetLastError(), which takes it away (cudaPeekAtLastError() leaves it).",
        "check the error of every call: print it and end, or return it, as the contract says");
    free(error);
    free(says);
    return fact;
}

// The program has looked at a launch's error, and not taken it away.
static bool has_peeked(void)
{
    const Traced *launch = NULL;
    while ((launch = trace_next(&check.session.events.trace, launch, TRACE(LAUNCH))))
        if (launch->read == ERROR_READ) return true;
    return false;
}

static void blame_unseen(void)
{
    const json_t *refused = check.session.events.refused;
    if (refused && json_integer_value(json_object_get(refused, "status")) != check.answer.cuda)
        refused = NULL;
    json_t *fact = refused && !has_peeked() ? add_refused(refused) : add_unseen();
    if (refused) keep_place(fact, refused);
    json_object_set_new(fact, "kind", json_string(kind_name(KIND_UNSEEN)));
}

void blame_stage(void)
{
    char *says;
    if (explained()) return;
    switch (check.answer.stage) {
    case STAGE_DONE: return;
    case STAGE_FUNCTION:
        says = text_format("the program has no function %s", check.function);
        check_add_fact(VERDICT_BUILD, says,
                       "The function must be there under that name, "
                       "extern \"C\", as the lesson's header declares it.",
                       NULL);
        free(says);
        return;
    case STAGE_PREPARE: blame_error(VERDICT_GRADER_ERROR, "the harness could not prepare"); return;
    case STAGE_CALL: blame_unseen(); return;
    default: blame_error(device_verdict(check.answer.cuda), "the device failed in");
    }
}
