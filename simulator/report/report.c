// Writes reports, as text for a person or as JSON lines for a grader. Errors wait until the kernel
// or the call that made them ends, so that a thousand threads with one fault become one report
// with a count.

#define _GNU_SOURCE
#include "report.h"
#include "machine/memory.h"
#include "origin.h"
#include "table.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COLUMNS = 80 };

static const struct { const char *json, *words; } kinds[REPORT_KINDS] = {
    [REPORT_BOUNDS] = { "bounds", "access out of bounds" },
    [REPORT_MISALIGNED] = { "misaligned", "misaligned address" },
    [REPORT_USE_AFTER_FREE] = { "use-after-free", "use of freed memory" },
    [REPORT_UNINITIALIZED] = { "uninitialized", "use of a value that nothing wrote" },
    [REPORT_RACE] = { "race", "data race" },
    [REPORT_BARRIER] = { "barrier", "barrier that not all threads reach" },
    [REPORT_TIMEOUT] = { "timeout", "kernel stopped" },
    [REPORT_UNSUPPORTED] = { "unsupported", "not supported by the simulated device" },
    [REPORT_TRAP] = { "trap", "trap" },
    [REPORT_LEAK] = { "leak", "leak" },
    [REPORT_INVALID_FREE] = { "invalid-free", "invalid free" },
    [REPORT_HOST_ACCESS] = { "host-access", "device memory touched by host code" },
    [REPORT_API] = { "api", "misuse of the CUDA runtime" },
    [REPORT_DEADLOCK] = { "deadlock", "deadlock" },
    [REPORT_HANG] = { "hang", "deadlock" },
    [REPORT_UNFINISHED] = { "unfinished-copy", "copy that was not waited for" },
};

typedef struct Noted {
    struct Noted *next;
    Report report;                      // its strings are copies
    uint64_t count, written;            // so far; when it was last written
} Noted;

static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    pthread_mutex_t *mutex;             // that all processes of the machine take before they write
    int fd;                             // -1: text
    bool profile, ended;
    Noted *first, **end;
    uint64_t counts[REPORT_KINDS];
} sink = { .mutex = &own_mutex, .fd = -1, .end = &sink.first };

// A process may have been killed while it wrote.
static void lock(void)
{
    if (pthread_mutex_lock(sink.mutex) == EOWNERDEAD)
        pthread_mutex_consistent(sink.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(sink.mutex);
}

extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

char *report_demangle(const char *mangled)
{
    int status;
    char *name = __cxa_demangle(mangled, NULL, NULL, &status);
    return name ? name : strdup(mangled);
}

static void share_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(shared, &attributes);
    sink.mutex = shared;
}

void report_open(int fd, bool profile)
{
    share_mutex();
    sink.fd = fd;
    sink.profile = profile;
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static char *copy_string(const char *s)
{
    return s ? strdup(s) : NULL;
}

static void copy_place(Place *place)
{
    place->file = copy_string(place->file);
    place->function = copy_string(place->function);
}

static bool same_string(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Without a line only the same words make the same error.
static bool same_error(const Report *a, const Report *b)
{
    if (a->kind != b->kind || !same_string(a->kernel, b->kernel) || a->place.line != b->place.line
        || !same_string(a->place.file, b->place.file))
        return false;
    return a->place.line || same_string(a->message, b->message);
}

// The strings of a graver one that is told instead are let go: a few for each line at the most.
static void keep(Noted *noted, const Report *report)
{
    noted->report = *report;
    noted->report.message = copy_string(report->message);
    noted->report.why = copy_string(report->why);
    noted->report.next = copy_string(report->next);
    noted->report.kernel = copy_string(report->kernel);
    noted->report.other_call = copy_string(report->other_call);
    noted->report.stands = copy_string(report->stands);
    copy_place(&noted->report.place);
    copy_place(&noted->report.other);
    for (int i = 0; i < REPORT_CALLERS; i++)
        copy_place(&noted->report.callers[i]);
}

static Noted *note(const Report *report)
{
    Noted *noted = calloc(1, sizeof *noted);
    if (!noted)
        return NULL;
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
    lock();
    Noted *noted = sink.first;
    while (noted && !same_error(&noted->report, report))
        noted = noted->next;
    if (!noted)
        noted = note(report);
    else if (report->gravity > noted->report.gravity)
        keep(noted, report);
    if (noted)
        noted->count++;
    sink.counts[report->kind]++;
    unlock();
}

void report_errorf(Report *report, const char *format, ...)
{
    char *message = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    report->message = message;
    report_error(report);
    report->message = NULL;
    free(message);
}

uint64_t report_count(enum report_kind kind)
{
    lock();
    uint64_t count = sink.counts[kind];
    unlock();
    return count;
}

// ---- Names ----

char *report_plain_name(const char *signature)
{
    static const char unnamed[] = "(anonymous namespace)::";
    const char *start = strstr(signature, unnamed);
    start = start ? start + strlen(unnamed) : signature;
    char *name = strdup(start);
    if (!name)
        return NULL;
    name[strcspn(name, "(<")] = 0;
    char *space = strrchr(name, ' ');
    if (space)
        memmove(name, space + 1, strlen(space));
    return name;
}

// ---- JSON lines ----

static void write_all(const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(sink.fd, text, bytes);
        if (written <= 0)
            return;                     // nobody reads any more
        text += written;
        bytes -= (size_t)written;
    }
}

static void write_json(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(object);
    if (!text)
        return;
    size_t bytes = strlen(text);
    text[bytes] = '\n';                 // in place of the 0: one write, one line
    write_all(text, bytes + 1);
    free(text);
}

// Text from programs may be no UTF-8, which JSON must be: then its bytes above 127 become question
// marks.
static json_t *json_text(const char *s)
{
    json_t *text = json_string(s);
    if (text)
        return text;
    char *copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c > 127)
            *c = '?';
    text = copy ? json_string(copy) : json_null();
    free(copy);
    return text;
}

static void set_text(json_t *object, const char *key, const char *value)
{
    if (value)
        json_object_set_new(object, key, json_text(value));
}

static void set_integer(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_triple(json_t *object, const char *key, const uint32_t v[3])
{
    json_object_set_new(object, key, json_pack("[iii]", (int)v[0], (int)v[1], (int)v[2]));
}

static void set_place(json_t *object, const Place *place)
{
    set_text(object, "file", place->file);
    if (place->line)
        set_integer(object, "line", place->line);
}

static void set_callers(json_t *object, const Place callers[REPORT_CALLERS])
{
    if (!callers[0].file)
        return;
    json_t *array = json_array();
    for (int i = 0; i < REPORT_CALLERS && callers[i].file; i++) {
        json_t *place = json_object();
        set_place(place, &callers[i]);
        json_array_append_new(array, place);
    }
    json_object_set_new(object, "inlined_at", array);
}

static bool several;                    // devices

void report_several(void) { several = true; }
bool report_has_several(void) { return several; }

static void write_error_json(const Noted *noted)
{
    const Report *r = &noted->report;
    json_t *object = json_pack("{ss ss}", "event", "error", "kind", kinds[r->kind].json);
    set_text(object, "message", r->message);
    set_text(object, "why", r->why);
    set_text(object, "next", r->next);
    set_text(object, "kernel", r->kernel);
    set_place(object, &r->place);
    set_callers(object, r->callers);
    if (r->has_thread && several)
        json_object_set_new(object, "device", json_integer(r->device));
    if (r->has_thread) {
        set_triple(object, "block", r->block);
        set_triple(object, "thread", r->thread);
    }
    if (r->address) {
        char address[32];
        snprintf(address, sizeof address, "0x%" PRIx64, r->address);
        set_text(object, "address", address);
    }
    if (r->has_other) {
        json_t *other = json_object();
        set_place(other, &r->other);
        set_text(other, "call", r->other_call);
        if (!r->other_call)
            set_triple(other, "thread", r->other_thread);
        if (r->has_other_block)
            set_triple(other, "block", r->other_block);
        json_object_set_new(object, "other", other);
    }
    set_text(object, "stands", r->stands);
    set_integer(object, "count", noted->count);
    write_json(object);
}

static json_t *counters_json(const CounterName *names, const uint64_t *values, size_t count,
                             bool zeros)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        if (zeros || values[i])
            set_integer(object, names[i].name, values[i]);
    return object;
}

static json_t *metrics_json(const KernelReport *k)
{
    json_t *object = json_object();
    for (size_t i = 0; i < k->metric_count; i++)
        json_object_set_new(object, k->metrics[i].name, json_real(k->figures[i]));
    return object;
}

static void add_estimates(json_t *array, const CounterName *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].estimate)
            json_array_append_new(array, json_text(names[i].name));
}

static json_t *lines_json(const KernelReport *k)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < k->line_count; i++) {
        json_t *counters = counters_json(k->counters, k->lines[i].values, k->counter_count, false);
        if (json_object_size(counters) == 0) {
            json_decref(counters);
            continue;
        }
        json_t *line = json_object();
        set_place(line, &k->lines[i].place);
        json_object_set_new(line, "counters", counters);
        json_array_append_new(lines, line);
    }
    return lines;
}

static void write_kernel_json(const KernelReport *k)
{
    json_t *object = json_pack("{ss}", "event", "kernel"), *estimates = json_array();
    char *name = report_plain_name(k->signature);
    set_text(object, "name", name);
    free(name);
    set_text(object, "signature", k->signature);
    if (several)
        json_object_set_new(object, "device", json_integer(k->device));
    set_triple(object, "grid", k->grid);
    set_triple(object, "block", k->block);
    json_object_set_new(object, "status", json_integer(k->status));
    json_object_set_new(object, "counters",
                        counters_json(k->counters, k->values, k->counter_count, true));
    json_object_set_new(object, "metrics", metrics_json(k));
    add_estimates(estimates, k->counters, k->counter_count);
    add_estimates(estimates, k->metrics, k->metric_count);
    json_object_set_new(object, "estimates", estimates);
    json_object_set_new(object, "lines", lines_json(k));
    if (k->time_ns > 0)
        json_object_set_new(object, "time_ns", json_real(k->time_ns));
    write_json(object);
}

// ---- Text ----

// Prints words, wrapped, the first line after `lead`, the others as far in.
static void print_wrapped(const char *lead, const char *text)
{
    size_t indent = strlen(lead), column = indent;
    fputs(lead, stderr);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > COLUMNS) {
            fprintf(stderr, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stderr);
            column++;
        }
        fprintf(stderr, "%.*s", (int)word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stderr);
}

void report_say(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) >= 0)
        print_wrapped("warpwise: ", text);
    va_end(arguments);
    free(text);
}

// Line `number` of a file, without its newline, malloc'ed; NULL if it cannot be read.
static char *source_line(const char *file, uint32_t number)
{
    FILE *source = fopen(file, "re");
    char *line = NULL;
    size_t size = 0;
    ssize_t length = -1;
    if (!source)
        return NULL;
    for (uint32_t i = 0; i < number && (length = getline(&line, &size, source)) >= 0; i++)
        ;
    fclose(source);
    if (length < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

// The source line with a caret under the column, or under its first word.
static void print_source(const Place *place)
{
    char *line = place->file && place->line ? source_line(place->file, place->line) : NULL;
    if (!line)
        return;
    int gutter = fprintf(stderr, "%6u | ", place->line), room = COLUMNS - gutter;
    size_t first = strspn(line, " \t"), column = first;
    if (place->column > first && place->column <= strlen(line))
        column = place->column - 1;
    for (char *c = line; *c; c++)
        if (*c == '\t')
            *c = ' ';
    fprintf(stderr, "%.*s\n", room, line);
    if ((int)column < room)
        fprintf(stderr, "%6s | %*s^\n", "", (int)column, "");
    free(line);
}

static void print_head(const Report *r)
{
    const Place *place = &r->place;
    fprintf(stderr, "warpwise: %s", kinds[r->kind].words);
    if (place->file && place->line) {
        fprintf(stderr, ", %s:%u", base_name(place->file), place->line);
    } else if (place->function) {
        char *name = report_demangle(place->function);
        fprintf(stderr, ", in %s (nvcc -g tells the line)", name ? name : place->function);
        free(name);
    }
    fputc('\n', stderr);
    print_source(place);
}

static void print_where(const Report *r)
{
    for (int i = 0; i < REPORT_CALLERS && r->callers[i].file; i++)
        fprintf(stderr, "  inlined at %s:%u\n", base_name(r->callers[i].file), r->callers[i].line);

    // The signatures of template libraries fill a screen.
    char *brief = r->kernel && strlen(r->kernel) > 2 * COLUMNS ? report_plain_name(r->kernel) : NULL;
    if (r->kernel)
        print_wrapped("  in ", brief ? brief : r->kernel);
    free(brief);
    if (r->has_thread)
        fprintf(stderr, "  block (%u,%u,%u), thread (%u,%u,%u)", r->block[0], r->block[1],
                r->block[2], r->thread[0], r->thread[1], r->thread[2]);
    if (r->has_thread && several)
        fprintf(stderr, ", device %u", r->device);
    if (r->has_thread && r->address)
        fprintf(stderr, ", address 0x%" PRIx64, r->address);
    if (r->has_thread)
        fputc('\n', stderr);
}

static void print_other(const Report *r)
{
    fputs("  the other access: ", stderr);
    if (r->has_other_block)
        fprintf(stderr, "block (%u,%u,%u), ", r->other_block[0], r->other_block[1],
                r->other_block[2]);
    if (r->other_call)
        fputs(r->other_call, stderr);
    else
        fprintf(stderr, "thread (%u,%u,%u)", r->other_thread[0], r->other_thread[1],
                r->other_thread[2]);
    if (r->other.file && r->other.line)
        fprintf(stderr, ", %s:%u", base_name(r->other.file), r->other.line);
    fputc('\n', stderr);
    print_source(&r->other);
}

static void print_stands(const char *lines)
{
    char *copy = copy_string(lines), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")))
        print_wrapped("  - ", line);
    free(copy);
}

static void print_error(const Noted *noted)
{
    const Report *r = &noted->report;
    print_head(r);
    print_where(r);
    if (r->message)
        print_wrapped("  ", r->message);
    if (r->has_other)
        print_other(r);
    print_stands(r->stands);
    if (r->why)
        print_wrapped("  why:  ", r->why);
    if (r->next)
        print_wrapped("  next: ", r->next);
    if (noted->count > 1)
        fprintf(stderr, "  and %" PRIu64 " more of this kind on this line\n", noted->count - 1);
}

// ---- Writing ----

static void flush_locked(void)
{
    for (Noted *noted = sink.first; noted; noted = noted->next) {
        if (noted->written)
            continue;
        if (sink.fd >= 0)
            write_error_json(noted);
        else
            print_error(noted);
        noted->written = noted->count;
    }
}

void report_flush(void)
{
    lock();
    flush_locked();
    unlock();
}

void report_kernel(const KernelReport *kernel)
{
    lock();
    flush_locked();
    if (sink.fd >= 0)
        write_kernel_json(kernel);
    else if (sink.profile)
        table_kernel(kernel);
    unlock();
}

void report_copy(const char *kind, uint64_t bytes)
{
    lock();
    flush_locked();
    if (sink.fd >= 0) {
        json_t *object = json_pack("{ss ss}", "event", "copy", "kind", kind);
        set_integer(object, "bytes", bytes);
        write_json(object);
    } else if (sink.profile) {
        fprintf(stderr, "warpwise: copy %s, %" PRIu64 " bytes\n", kind, bytes);
    }
    unlock();
}

void report_work(const char *kind, uint32_t device, int stream, double start_ns, double end_ns, bool by_host,
                 const LinkReport *links, size_t count)
{
    if (sink.fd < 0)
        return;
    json_t *object = json_pack("{ss ss si sf sf s[]}", "event", "work", "kind", kind, "device", (int)device,
                               "start_ns", start_ns, "end_ns", end_ns, by_host ? "by_host" : "links");
    if (stream >= 0)
        set_integer(object, "stream", (uint64_t)stream);
    json_t *list = json_object_get(object, by_host ? "by_host" : "links");
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("[iiI]", (int)links[i].from, (int)links[i].to,
                                              (json_int_t)links[i].bytes));
    lock();
    flush_locked();
    write_json(object);
    unlock();
}

void report_range(bool begins, double busy_ns)
{
    if (sink.fd < 0)
        return;
    lock();
    flush_locked();
    write_json(json_pack("{ss sb sf}", "event", "range", "begins", begins, "busy_ns", busy_ns));
    unlock();
}

void report_call(const char *name, double start_ns, double end_ns)
{
    if (sink.fd < 0)
        return;
    lock();
    flush_locked();
    write_json(json_pack("{ss ss sf sf}", "event", "call", "name", name, "start_ns", start_ns, "end_ns", end_ns));
    unlock();
}

void report_migration(const char *direction, const char *cause, uint64_t bytes, uint64_t faults)
{
    lock();
    flush_locked();
    if (sink.fd >= 0) {
        json_t *object = json_pack("{ss ss ss}", "event", "migration", "direction", direction,
                                   "cause", cause);
        set_integer(object, "bytes", bytes);
        set_integer(object, "faults", faults);
        write_json(object);
    } else if (sink.profile) {
        fprintf(stderr, "warpwise: managed memory, %s, %s: %" PRIu64 " bytes, %" PRIu64 " fault%s\n",
                direction, cause, bytes, faults, faults == 1 ? "" : "s");
    }
    unlock();
}

// What came again after it had been written is said at the end, in text only.
static void print_repeats(void)
{
    for (const Noted *noted = sink.first; noted; noted = noted->next) {
        const Place *place = &noted->report.place;
        if (noted->count == noted->written)
            continue;
        fprintf(stderr, "warpwise: %s", kinds[noted->report.kind].words);
        if (place->file && place->line)
            fprintf(stderr, ", %s:%u", base_name(place->file), place->line);
        fprintf(stderr, ": %" PRIu64 " more since\n", noted->count - noted->written);
    }
}

void report_end(void)
{
    lock();
    flush_locked();
    if (sink.fd < 0)
        print_repeats();
    unlock();
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
        write_json(signal ? json_pack("{ss si}", "event", "exit", "signal", signal)
                          : json_pack("{ss si}", "event", "exit", "status", status));
    else if (signal)
        report_say("the program was killed by signal %d (%s)", signal, strsignal(signal));
    unlock();
}

char *report_made(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->name)
        snprintf(buffer, size, " of variable %s", a->name);
    else if (a->made_in.line ? (place = a->made_in, true) : origin_place(a->made, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " made at %s:%u", base_name(place.file), place.line);
    return buffer;
}

char *report_freed(const Allocation *a, char *buffer, size_t size)
{
    Place place;
    buffer[0] = 0;
    if (a->unmade_in.line ? (place = a->unmade_in, true) : origin_place(a->unmade, MEMORY_CALLERS, &place))
        snprintf(buffer, size, " at %s:%u", base_name(place.file), place.line);
    return buffer;
}

char *report_beside(const Allocation *a, uint64_t address, char *buffer, size_t size)
{
    char made[256], freed[256] = "", where[96];
    if (a->freed)
        report_freed(a, freed, sizeof freed);
    if (address < a->base)
        snprintf(where, sizeof where, "%" PRIu64 " bytes before", a->base - address);
    else if (address < a->base + a->size)
        snprintf(where, sizeof where, "at byte %" PRIu64 " of", address - a->base);
    else if (address == a->base + a->size)
        snprintf(where, sizeof where, "just past the end of");
    else
        snprintf(where, sizeof where, "%" PRIu64 " bytes past the end of",
                 address - a->base - a->size);
    if (a->name)
        snprintf(buffer, size, "%s the %" PRIu64 "-byte variable %s", where, a->size, a->name);
    else
        snprintf(buffer, size, "%s the %" PRIu64 "-byte allocation%s%s%s", where, a->size,
                 report_made(a, made, sizeof made), a->freed ? ", freed" : "", freed);
    return buffer;
}
