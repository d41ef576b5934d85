// Writes reports, as text for a person or as JSON lines for a grader. Errors wait until the kernel
// or the call that made them ends, so that a thousand threads with one fault become one report
// with a count.

#define _GNU_SOURCE
#include "report.h"
#include "json.h"
#include "message.h"
#include "details.h"
#include "html.h"
#include "text.h"
#include "totals.h"
#include "base/names.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Noted {
    struct Noted *next;
    Report report;           // its strings are copies, and its words made
    MessageMemory memory;    // its allocation, as it was then
    uint64_t count, written; // so far; when it was last written
    bool hidden;             // it is not written: its cause is
} Noted;

// What all processes of the machine share.
typedef struct Shared {
    pthread_mutex_t mutex;        // taken before anything is written
    uint64_t found[REPORT_KINDS]; // errors that were written
} Shared;

static Shared unshared = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static struct {
    Shared *shared;
    int fd; // -1: text
    bool profile, ended;
    Noted *first, **end;
    uint64_t counts[REPORT_KINDS];
} sink = { .shared = &unshared, .fd = -1, .end = &sink.first };

// A process may have been killed while it wrote.
static void lock(void)
{
    pthread_mutex_t *mutex = &sink.shared->mutex;
    if (pthread_mutex_lock(mutex) == EOWNERDEAD) pthread_mutex_consistent(mutex);
}

static void unlock(void) { pthread_mutex_unlock(&sink.shared->mutex); }

static void share(void)
{
    pthread_mutexattr_t attributes;
    Shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&shared->mutex, &attributes);
    sink.shared = shared;
}

static bool several; // devices

void report_several(void) { several = true; }
bool report_has_several(void) { return several; }

void report_open(int fd, bool profile)
{
    share();
    sink.fd = fd;
    sink.profile = profile;
}

static char *copy_string(const char *s) { return s ? strdup(s) : NULL; }

static void copy_place(Place *place)
{
    place->file = copy_string(place->file);
    place->function = copy_string(place->function);
    place->object = copy_string(place->object);
}

static bool same_string(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Without a line only the same words make the same error.
static bool same_error(const Report *a, const Report *b)
{
    if (a->kind != b->kind || a->note != b->note || !same_string(a->kernel, b->kernel)
        || a->place.line != b->place.line || !same_string(a->place.file, b->place.file))
        return false;
    return a->place.line
        || (same_string(a->message, b->message)
            && same_string(a->place.function, b->place.function));
}

// The strings of a graver one that is told instead are let go: a few for each line at the most.
static void keep(Noted *noted, const Report *report)
{
    Report *kept = &noted->report;
    *kept = *report;
    message_make(kept);
    if (report->allocation) noted->memory = message_memory(report->allocation);
    kept->detail = copy_string(report->detail);
    kept->kernel = copy_string(report->kernel);
    kept->call = copy_string(report->call);
    kept->waiting_warps = copy_string(report->waiting_warps);
    kept->other.kernel = copy_string(report->other.kernel);
    kept->other.call = copy_string(report->other.call);
    kept->other.label = copy_string(report->other.label);
    copy_place(&kept->place);
    copy_place(&kept->other.place);
    copy_place(&noted->memory.made);
    copy_place(&noted->memory.unmade);
    noted->memory.name = copy_string(noted->memory.name);
    for (int i = 0; i < PLACE_CALLERS; i++) copy_place(&kept->callers[i]);
}

static Noted *note(const Report *report)
{
    Noted *noted = calloc(1, sizeof *noted);
    if (!noted) return NULL;
    keep(noted, report);
    *sink.end = noted;
    sink.end = &noted->next;
    return noted;
}

static _Thread_local bool *held;

void report_hold(bool *instead) { held = instead; }

void report_error(const Report *report)
{
    if (held) {
        *held = true;
        return;
    }
    if (report->note && sink.fd >= 0) return; // told in text alone
    Report own = *report;
    own.kind = message_kind(own.cause);
    if (own.kind == REPORT_UNINITIALIZED && report_count(REPORT_UNSUPPORTED))
        own.next = "Look first at what is not supported, above: it wrote nothing.";
    if (!own.place.line) message_make(&own);
    lock();
    Noted *noted = sink.first;
    while (noted && !same_error(&noted->report, &own)) noted = noted->next;
    if (!noted) noted = note(&own);
    else if (own.severity > noted->report.severity) keep(noted, &own);
    if (noted) noted->count++;
    if (!own.note) sink.counts[own.kind]++;
    unlock();
    if (!own.place.line) message_free(&own);
}

uint64_t report_count(enum report_kind kind)
{
    lock();
    uint64_t count = sink.counts[kind];
    unlock();
    return count;
}

// The line in which a kernel read the value, which it may have stored before a copy found it.
typedef struct {
    const char *file; // without its folder; NULL: not known
    int64_t line;
} Origin;

static Origin origin_of(const Report *r)
{
    const Place *read = r->has_other ? &r->other.place : &r->place;
    int64_t line;
    if (message_number(r, "source_line", &line)) return (Origin){ r->detail, line };
    return (Origin){ read->file ? names_base(read->file) : NULL, read->line };
}

static bool is_at(const Place *place, const Origin *o)
{
    return place->file && o->file && place->line == o->line
        && !strcmp(names_base(place->file), o->file);
}

// A value that was read before it was written, because nothing makes the reader wait: the race is
// told, whose remedy is another than to write it first.
static bool is_of_race(const Report *r)
{
    if (r->kind != REPORT_UNINITIALIZED) return false;
    const Origin o = origin_of(r);
    for (const Noted *n = sink.first; n; n = n->next)
        if (n->report.kind == REPORT_RACE
            && (is_at(&n->report.place, &o) || is_at(&n->report.other.place, &o)))
            return true;
    return false;
}

static void flush_locked(void)
{
    for (Noted *noted = sink.first; noted; noted = noted->next) {
        if (noted->written || (noted->hidden |= is_of_race(&noted->report))) continue;
        if (!noted->report.note) sink.shared->found[noted->report.kind]++;
        if (sink.fd >= 0) report_json_error(sink.fd, &noted->report, &noted->memory, noted->count);
        else report_text_error(&noted->report, noted->count);
        noted->written = noted->count;
    }
}

void report_flush(void)
{
    lock();
    flush_locked();
    unlock();
}

// Which launches are told.
static struct {
    regex_t *kernel; // NULL: any
    uint64_t from, to, launch;
    bool launches; // single ones were chosen
} only = { .from = 1, .to = UINT64_MAX };

const char *report_kernels(const char *pattern)
{
    static regex_t compiled;
    static char why[128];
    int error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
    regerror(error, &compiled, why, sizeof why);
    only.kernel = &compiled;
    return error ? why : NULL;
}

void report_launches(uint64_t from, uint64_t to)
{
    only.launches = true;
    only.from = from;
    only.to = to;
}

static bool is_of_kernel(const KernelReport *kernel)
{
    return !only.kernel || regexec(only.kernel, kernel->signature, 0, NULL, 0) == 0;
}

bool report_wants_findings(const KernelReport *kernel)
{
    return (sink.profile || html_is_on()) && is_of_kernel(kernel)
        && (only.launches || totals_is_longest(kernel));
}

static bool is_told(const KernelReport *kernel)
{
    if (!is_of_kernel(kernel)) return false;
    only.launch++;
    return only.launch >= only.from && only.launch <= only.to;
}

// Are launches and copies kept until the end?
static bool sums_up(void)
{
    return html_is_on() || (sink.fd < 0 && sink.profile && !only.launches);
}

void report_kernel(const KernelReport *kernel)
{
    lock();
    flush_locked();
    if (!is_told(kernel)) {
        unlock();
        return;
    }
    if (sink.fd >= 0) report_json_kernel(sink.fd, kernel);
    else if (sink.profile && only.launches) details_print(kernel, NULL);
    if (sums_up()) totals_kernel(kernel);
    unlock();
}

void report_copy(const char *kind, uint64_t bytes, const CopyReport *back)
{
    lock();
    flush_locked();
    if (sink.fd >= 0) {
        report_json_copy(sink.fd, kind, bytes, back);
    }
    if (sums_up()) totals_move(kind, NULL, bytes, 0);
    unlock();
}

// Of each kind, since they were written last: a loop of fills is one line.
static uint64_t crossed[CROSSINGS];

void report_crossing(enum crossing kind, uint64_t bytes) { crossed[kind] += bytes; }

void report_crossings(void)
{
    static const char *const names[CROSSINGS] = { "module", "fill",   "print", "hosts", "pages",
                                                  "shown",  "pinned", "where", "small" };

    for (int i = 0; i < CROSSINGS; i++) {
        if (!crossed[i] || sink.fd < 0) continue;
        lock();
        flush_locked();
        report_json_line(sink.fd, json_pack("{ss ss sI}", "event", "crossing", "kind", names[i],
                                            "bytes", (json_int_t)crossed[i]));
        unlock();
        crossed[i] = 0;
    }
}

void report_work(const char *kind, uint32_t device, int stream, double start_ns, double end_ns,
                 bool by_host, const LinkReport *links, size_t count)
{
    if (sink.fd < 0) return;
    json_t *object =
        json_pack("{ss ss si sf sf s[]}", "event", "work", "kind", kind, "device", (int)device,
                  "start_ns", start_ns, "end_ns", end_ns, by_host ? "by_host" : "links");
    if (stream >= 0) json_object_set_new(object, "stream", json_integer(stream));
    json_t *list = json_object_get(object, by_host ? "by_host" : "links");
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("[iiI]", (int)links[i].from, (int)links[i].to,
                                              (json_int_t)links[i].bytes));
    lock();
    flush_locked();
    report_json_line(sink.fd, object);
    unlock();
}

void report_refused(const Report *report, int status)
{
    if (sink.fd < 0) return;
    Report own = *report;
    message_make(&own);
    lock();
    flush_locked();
    report_json_refused(sink.fd, &own, status);
    unlock();
    message_free(&own);
}

void report_range(bool begins, bool by_owner, double busy_ns)
{
    if (sink.fd < 0) return;
    lock();
    flush_locked();
    report_json_line(sink.fd, json_pack("{ss sb sb sf}", "event", "range", "begins", begins,
                                        "owner", by_owner, "busy_ns", busy_ns));
    unlock();
}

void report_call(const CallReport *call)
{
    if (sink.fd < 0) return;
    lock();
    flush_locked();
    report_json_call(sink.fd, call);
    unlock();
}

void report_site(uint32_t site, const Place *place)
{
    if (sink.fd < 0) return;
    lock();
    report_json_site(sink.fd, site, place);
    unlock();
}

void report_calls_more(uint64_t again, const char *does, uint64_t left_out)
{
    if (sink.fd < 0) return;
    json_t *object = does ? json_pack("{ss ss sI}", "event", "call", "does", does, "left_out",
                                      (json_int_t)left_out)
                          : json_pack("{ss sI}", "event", "call", "again", (json_int_t)again);
    lock();
    report_json_line(sink.fd, object);
    unlock();
}

void report_migration(const char *direction, const char *cause, uint64_t bytes, uint64_t faults)
{
    lock();
    flush_locked();
    if (sink.fd >= 0) {
        report_json_line(sink.fd, json_pack("{ss ss ss sI sI}", "event", "migration", "direction",
                                            direction, "cause", cause, "bytes", (json_int_t)bytes,
                                            "faults", (json_int_t)faults));
    }
    if (sums_up()) totals_move(direction, cause, bytes, faults);
    unlock();
}

// What came again after it had been written is said at the end, in text only.
static void print_repeats(void)
{
    for (const Noted *noted = sink.first; noted; noted = noted->next)
        if (noted->count > noted->written && !noted->report.note && !noted->hidden)
            report_text_repeats(&noted->report, noted->count - noted->written);
}

void report_end(void)
{
    lock();
    flush_locked();
    if (sink.fd < 0) print_repeats();
    if (html_is_on()) html_add();
    if (sink.fd < 0 && sink.profile && !only.launches) totals_print(only.kernel);
    unlock();
}

char *report_found_words(void)
{
    lock();
    char *words = report_text_found(sink.shared->found);
    unlock();
    return words;
}

bool report_found(void)
{
    bool any = false;
    lock();
    for (int kind = 0; kind < REPORT_KINDS; kind++) any |= sink.shared->found[kind] > 0;
    unlock();
    return any;
}

void report_exit(int status, int signal)
{
    lock();
    if (sink.ended) {
        unlock();
        return;
    }
    sink.ended = true;
    if (sink.fd >= 0)
        report_json_line(sink.fd, signal ? json_pack("{ss si}", "event", "exit", "signal", signal)
                                         : json_pack("{ss si}", "event", "exit", "status", status));
    else if (signal)
        report_say("the program was killed by signal %d (%s)", signal, strsignal(signal));
    char *found = report_text_found(sink.shared->found);
    if (sink.fd < 0 && found) report_say("%s", found);
    free(found);
    unlock();
}
