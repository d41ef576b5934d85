// Parses the device's report, one JSON object a line. Nothing is dropped in
// silence: a line that cannot be read makes the whole run a GRADER-ERROR.
#define _GNU_SOURCE
#include "events.h"
#include "confine.h"
#include "../simulator/wire/wire.h"
#include "text.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LIMIT = 1 << 24, ERRORS_KEPT = 32 };

// Counters of our own, made of the copies that are reported: their bytes over the bus, and on one
// side of it.
#define COPIED_HTOD "memcpy__bytes_htod.sum"
#define COPIED_DTOH "memcpy__bytes_dtoh.sum"
#define COPIED_DTOD "memcpy__bytes_dtod.sum"
// Of the call alone: how many these copies are; modules, values of fills, and where copies and
// fills go; what kernels print, set conditions of graphs to, and say by how long they take;
// copies between devices, by the host.
#define COPIES "memcpy__count.sum"
#define CROSSED_HTOD "crossing__bytes_htod.sum"
#define CROSSED_DTOH "crossing__bytes_dtoh.sum"
#define LINKED_BY_HOST "link__bytes_by_host.sum"
// The same of managed memory. What a kernel's page faults move is in the kernel's own counters.
#define GPU_FAULTS "unified_memory__gpu_page_faults.sum"
#define CPU_FAULTS "unified_memory__cpu_page_faults.sum"
#define MOVED_HTOD "unified_memory__bytes_htod.sum"
#define MOVED_DTOH "unified_memory__bytes_dtoh.sum"
#define PREFETCHED "unified_memory__bytes_prefetched.sum" // either way, of those two

// Of a machine with several devices, or one whose timeline is kept: bytes that the busiest link
// carried one way, summed over the calls; how long each call took from its first piece of work to
// its last, and how long the pieces were; and how many they were.
#define BUSIEST_LINK "link__bytes_busiest.sum"
#define ELAPSED "devices__elapsed_ns.sum"
#define AT_WORK "devices__work_ns.sum"
#define PIECES "devices__work.sum"
// Where the timeline is kept: the calls that launch something, a kernel or a graph, and the host's
// time in all calls of CUDA.
#define LAUNCH_CALLS "cuda_api__launch_calls.sum"
#define IN_CALLS "cuda_api__time_ns.sum"
// What keeps pieces of work from going side by side: calls of the host that wait
// (cudaStreamSynchronize and the like, queries until the work is complete, cudaFree too) and behind
// which it goes on issuing; copies
// that return when they are done (cudaMemcpy); asynchronous ones that kept the host all the same,
// as from memory that is not pinned; pieces of work in the default stream, and in how many other
// streams there was any. And what puts streams in order without the host: calls of
// cudaStreamWaitEvent.
#define WAITS "cuda_api__waits_between.sum"
#define WAITING_COPIES "cuda_api__waiting_copies.sum"
#define LONG_ASYNC_COPIES "cuda_api__long_async_copies.sum"
#define IN_DEFAULT_STREAM "devices__work_in_default_stream.sum"
#define STREAMS "devices__streams.sum"
#define EVENT_WAITS "cuda_api__event_waits.sum"
enum { LONG_NS = 5000 }; // an asynchronous copy takes the host some 1,000 to issue

void events_init(Events *e)
{
    *e = (Events){
        .counters =
            json_pack("{si si si si si si si si}", COPIED_HTOD, 0, COPIED_DTOH, 0, COPIED_DTOD, 0,
                      GPU_FAULTS, 0, CPU_FAULTS, 0, MOVED_HTOD, 0, MOVED_DTOH, 0, PREFETCHED, 0),
        .call = json_object(),
        .estimates = json_object(),
        .lines = json_array(),
        .by_kernel = json_array(),
        .errors = json_array(),
    };
}

void events_forget(Events *e)
{
    const char *name;
    json_t *value;
    json_object_foreach(e->counters, name, value) json_integer_set(value, 0);
    json_array_clear(e->lines);
    json_array_clear(e->by_kernel);
    e->kernels = 0;
    e->time_ns = 0;
}

void events_end_call(Events *e)
{
    e->calling = false;
    trace_end_call(&e->trace);
}

void events_new_call(Events *e)
{
    e->calling = true;
    trace_new_call(&e->trace);
    json_object_clear(e->call);
    free(e->launched);
    e->launched = NULL;
    e->launches = 0;
    json_decref(e->refused);
    e->refused = NULL;
    memset(&e->work, 0, sizeof e->work);
    e->returned_count = 0;
}

static void add_counters(json_t *sum, json_t *counters)
{
    const char *name;
    json_t *value;
    json_object_foreach(counters, name, value)
    {
        json_int_t before = json_integer_value(json_object_get(sum, name));
        json_object_set_new(sum, name, json_integer(before + json_integer_value(value)));
    }
}

static bool same(json_t *a, json_t *b, const char *key)
{
    json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    return (!x && !y) || (x && y && json_equal(x, y));
}

// The compiler records whole paths; within the project the rest is enough, and is the
// same on every machine.
static void shorten_path(json_t *place)
{
    char here[PATH_MAX];
    const char *file = json_string_value(json_object_get(place, "file"));
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (n && file && strncmp(file, here, n) == 0 && file[n] == '/') {
        json_t *rest = json_string(file + n + 1);
        json_object_set_new(place, "file", rest);
    }
}

// The same for all places that an error has: its own, and those of what it names.
static void shorten_paths(json_t *event)
{
    const char *key;
    json_t *part;
    size_t i;
    shorten_path(event);
    json_object_foreach(event, key, part) shorten_paths(part);
    json_array_foreach(event, i, part) shorten_paths(part);
}

// The entry of `list` with this object's file and line, made if there is none.
static json_t *line_entry(json_t *list, json_t *line)
{
    size_t i;
    json_t *entry;
    shorten_path(line);
    json_array_foreach(list, i, entry) if (same(entry, line, "file")
                                           && same(entry, line, "line")) return entry;
    entry = json_pack("{sO* sO* s{}}", "file", json_object_get(line, "file"), "line",
                      json_object_get(line, "line"), "counters");
    json_array_append_new(list, entry);
    return entry;
}

static void add_lines(json_t *sum, json_t *lines)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line) add_counters(
        json_object_get(line_entry(sum, line), "counters"), json_object_get(line, "counters"));
}

// The entry of the kernel that was launched, made if there is none.
static json_t *kernel_entry(json_t *list, json_t *event)
{
    size_t i;
    json_t *entry, *signature = json_object_get(event, "signature");
    if (!signature) signature = json_object_get(event, "name");
    json_array_foreach(list, i, entry) if (signature
                                           && json_equal(json_object_get(entry, "signature"),
                                                         signature)) return entry;
    entry = json_pack("{sO* si sf s{} s[]}", "signature", signature, "launches", 0, "time_ns", 0.0,
                      "counters", "lines");
    json_array_append_new(list, entry);
    return entry;
}

static void add_kernel(json_t *entry, json_t *event)
{
    json_int_t launches = json_integer_value(json_object_get(entry, "launches"));
    double time = json_number_value(json_object_get(entry, "time_ns"));
    json_object_set_new(entry, "launches", json_integer(launches + 1));
    json_object_set_new(entry, "time_ns",
                        json_real(time + json_number_value(json_object_get(event, "time_ns"))));
    add_counters(json_object_get(entry, "counters"), json_object_get(event, "counters"));
    add_lines(json_object_get(entry, "lines"), json_object_get(event, "lines"));
}

// "The call's one kernel is turn, of 2 x 3 blocks of 32 x 8 threads"
static void note_launch(Events *e, const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "name"));
    int g[3], b[3];
    if (!name || json_unpack(json_object_get(event, "grid"), "[iii]", &g[0], &g[1], &g[2])
        || json_unpack(json_object_get(event, "block"), "[iii]", &b[0], &b[1], &b[2]))
        return;
    char *which = ++e->launches == 1
                    ? text_format("The call's one kernel")
                    : text_format("The last of the call's %zu kernels", e->launches);
    free(e->launched);
    e->launched = text_format("%s is %s, of %d x %d x %d blocks of %d x %d x %d threads", which,
                              name, g[0], g[1], g[2], b[0], b[1], b[2]);
    free(which);
}

static void take_kernel(Events *e, json_t *event)
{
    json_t *counters = json_object_get(event, "counters");
    note_launch(e, event);
    add_counters(e->counters, counters);
    add_counters(e->call, counters);
    add_counters(e->counters, json_object_get(event, "aside"));
    add_counters(e->call, json_object_get(event, "aside"));

    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(event, "estimates"), i, item)
        json_object_set_new(e->estimates, json_string_value(item), json_true());
    add_lines(e->lines, json_object_get(event, "lines"));
    add_kernel(kernel_entry(e->by_kernel, event), event);
    e->kernels++;
    e->time_ns += json_number_value(json_object_get(event, "time_ns"));
}

static uint64_t number_in(const json_t *event, const char *key)
{
    const char *words = json_string_value(json_object_get(event, key));
    return words ? strtoull(words, NULL, 0) : 0;
}

static void note_returned(Events *e, const json_t *event)
{
    const json_t *written = json_object_get(event, "written");
    Returned r = { .to = number_in(event, "to"),
                   .bytes = (uint64_t)json_integer_value(json_object_get(event, "bytes")) };
    if (!json_is_array(written)) return;
    for (size_t by = 0; by < json_array_size(written); by++) {
        uint64_t words = (uint64_t)json_integer_value(json_array_get(written, by));
        r.words += words;
        if (by == WRITER_KERNEL || by == WRITER_FILL) r.by_device += words;
    }
    e->returned = realloc(e->returned, (e->returned_count + 1) * sizeof *e->returned);
    e->returned[e->returned_count++] = r;
}

static void add_to_call(Events *e, const char *name, json_int_t much)
{
    json_t *one = json_pack("{sI}", name, much);
    add_counters(e->call, one);
    json_decref(one);
}

static void take_copy(Events *e, json_t *event)
{
    note_returned(e, event);
    const char *kind = json_string_value(json_object_get(event, "kind"));
    const char *name = !kind                     ? COPIED_DTOD
                     : strcmp(kind, "HtoD") == 0 ? COPIED_HTOD
                     : strcmp(kind, "DtoH") == 0 ? COPIED_DTOH
                                                 : COPIED_DTOD;
    json_t *bytes = json_pack("{sO*}", name, json_object_get(event, "bytes"));
    add_counters(e->counters, bytes);
    add_counters(e->call, bytes);
    json_decref(bytes);
    add_to_call(e, COPIES, 1);
}

static void add_to(Events *e, const char *name, json_int_t much)
{
    json_t *one = json_pack("{sI}", name, much);
    add_counters(e->counters, one);
    json_decref(one);
    add_to_call(e, name, much);
}

static void take_crossing(Events *e, json_t *event)
{
    const char *kind = json_string_value(json_object_get(event, "kind"));
    json_int_t bytes = json_integer_value(json_object_get(event, "bytes"));
    const char *name = CROSSED_HTOD;
    if (!kind || !e->calling) return;
    if (strcmp(kind, "print") == 0) name = CROSSED_DTOH;
    if (strcmp(kind, "hosts") == 0) name = "crossing__bytes_hosts.sum";
    if (strcmp(kind, "pages") == 0) name = "crossing__bytes_pages.sum";
    if (strcmp(kind, "shown") == 0) name = "crossing__bytes_shown.sum";
    if (strcmp(kind, "pinned") == 0) name = "crossing__bytes_pinned.sum";
    if (strcmp(kind, "small") == 0) name = "crossing__bytes_small.sum";
    add_to_call(e, name, bytes);
}

static void take_migration(Events *e, json_t *event)
{
    const char *cause = json_string_value(json_object_get(event, "cause"));
    const char *direction = json_string_value(json_object_get(event, "direction"));
    json_t *bytes = json_object_get(event, "bytes");
    if (!cause || !direction || strcmp(cause, "gpu-fault") == 0) return;
    json_t *sums =
        json_pack("{sO*}", strcmp(direction, "HtoD") == 0 ? MOVED_HTOD : MOVED_DTOH, bytes);
    if (strcmp(cause, "cpu-fault") == 0)
        json_object_set(sums, CPU_FAULTS, json_object_get(event, "faults"));
    else json_object_set(sums, PREFETCHED, bytes);
    add_counters(e->counters, sums);
    add_counters(e->call, sums);
    json_decref(sums);
}

static int64_t busiest(const Events *e)
{
    int64_t most = 0;
    for (int d = 0; d < EVENTS_DEVICES; d++) {
        most = e->work.in[d] > most ? e->work.in[d] : most;
        most = e->work.out[d] > most ? e->work.out[d] : most;
    }
    return most;
}

// What crossed the links, or the host's bus twice where devices cannot reach one another.
static void take_links(Events *e, json_t *links, bool by_host)
{
    size_t i;
    json_t *link;
    json_array_foreach(links, i, link)
    {
        int from, to;
        json_int_t bytes;
        if (json_unpack(link, "[iiI]", &from, &to, &bytes) || from < 0 || from >= EVENTS_DEVICES
            || to < 0 || to >= EVENTS_DEVICES)
            continue;
        if (by_host) {
            add_to(e, COPIED_DTOH, bytes);
            add_to(e, COPIED_HTOD, bytes);
            add_to_call(e, LINKED_BY_HOST, bytes);
        } else {
            e->work.out[from] += bytes;
            e->work.in[to] += bytes;
        }
    }
}

static void take_stream(Events *e, json_t *stream)
{
    if (!stream) return;
    uint64_t bit = 1ull << (json_integer_value(stream) & 63);
    add_to(e, IN_DEFAULT_STREAM, bit == 1);
    add_to(e, STREAMS, bit != 1 && !(e->work.streams & bit));
    e->work.streams |= bit;
}

static void take_work(Events *e, json_t *event)
{
    if (e->ranged && !e->within) return;
    double start = json_number_value(json_object_get(event, "start_ns"));
    double end = json_number_value(json_object_get(event, "end_ns"));
    double before = e->work.end_ns - e->work.start_ns;
    int64_t most = busiest(e);
    if (e->work.end_ns == 0 || start < e->work.start_ns) e->work.start_ns = start;
    if (end > e->work.end_ns) e->work.end_ns = end;
    take_links(e, json_object_get(event, "links"), false);
    take_links(e, json_object_get(event, "by_host"), true);
    add_to(e, BUSIEST_LINK, busiest(e) - most);
    add_to(e, ELAPSED, llround(e->work.end_ns - e->work.start_ns) - llround(before));
    add_to(e, AT_WORK, llround(end - start));
    add_to(e, PIECES, 1);
    take_stream(e, json_object_get(event, "stream"));
}

static bool did(const json_t *event, const char *what)
{
    const char *word = json_string_value(json_object_get(event, "did"));
    return word && strcmp(word, what) == 0;
}

// A call on the timeline. What it is called is the program's word, what it did is the device's.
static void take_timed_call(Events *e, json_t *event)
{
    double start = json_number_value(json_object_get(event, "start_ns"));
    double end = json_number_value(json_object_get(event, "end_ns"));
    if (!e->calling || (e->ranged && !e->within)) return;
    bool launches = did(event, "launch") || did(event, "graph"), copies = did(event, "copy"),
         issues = launches || copies, blocks = json_is_true(json_object_get(event, "blocks"));
    add_to(e, LAUNCH_CALLS, launches);
    add_to(e, IN_CALLS, llround(end - start));
    add_to(e, WAITS, issues ? e->work.waits : 0);
    e->work.waits =
        issues ? 0 : e->work.waits + (blocks && (did(event, "wait") || did(event, "free")));
    add_to(e, WAITING_COPIES, copies && blocks);
    add_to(e, EVENT_WAITS, did(event, "order"));
    add_to(e, LONG_ASYNC_COPIES, copies && !blocks && end - start > LONG_NS);
}

static void take_call(Events *e, json_t *event)
{
    if (json_object_get(event, "end_ns")) take_timed_call(e, event);
    e->refused_line |= !trace_take_call(&e->trace, event);
}

static void take_site(Events *e, json_t *event)
{
    shorten_path(event);
    e->refused_line |= !trace_take_site(&e->trace, event);
}

static void take_range(Events *e, json_t *event)
{
    // The program's own range only tells how busy the device is: a submission can call it too.
    if (json_is_true(json_object_get(event, "owner")))
        e->within = json_is_true(json_object_get(event, "begins"));
    else e->busy_ns = json_number_value(json_object_get(event, "busy_ns"));
}

// The same mistake at the same place, whoever made it.
static bool same_error(json_t *a, json_t *b)
{
    static const char *const facts[] = { "kind",   "cause", "file",  "line",
                                         "kernel", "call",  "bytes", "undefined_bytes" };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!same(a, b, facts[i])) return false;
    return true;
}

static void take_error(Events *e, json_t *event)
{
    size_t i;
    json_t *known;
    if (json_array_size(e->errors) >= ERRORS_KEPT) return;
    shorten_paths(event);
    json_array_foreach(e->errors, i, known) if (same_error(known, event)) return;
    json_array_append(e->errors, event);
}

static void take_refused(Events *e, json_t *event)
{
    json_decref(e->refused);
    e->refused = json_incref(event);
}

static void take_exit(Events *e, json_t *event)
{
    e->ended = true;
    e->status = (int)json_integer_value(json_object_get(event, "status"));
    e->signal = (int)json_integer_value(json_object_get(event, "signal"));
    confine_end(&e->status, &e->signal);
}

// The events that there are. What a program does outside of the calls is no part of any.
static const struct Kind {
    const char *name;
    void (*take)(Events *, json_t *);
    bool of_call;
} kinds[] = {
    { "kernel", take_kernel, true },       { "copy", take_copy, true },
    { "migration", take_migration, true }, { "work", take_work, true },
    { "call", take_call, false },          { "site", take_site, false },
    { "range", take_range, true },         { "crossing", take_crossing, false },
    { "error", take_error, false },        { "refused", take_refused, true },
    { "exit", take_exit, false },
};

static const struct Kind *kind_called(const char *name)
{
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

// Counters are sums of what happened: numbers, and none below 0.
static bool counts_are_possible(const json_t *event)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(event, "counters"), name,
                        value) if (!json_is_integer(value)
                                   || json_integer_value(value) < 0) return false;
    return true;
}

static void take_line(Events *e, const char *line, size_t bytes)
{
    json_error_t why = { 0 };
    json_t *event = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &why);
    const char *type = json_string_value(json_object_get(event, "event"));
    const struct Kind *kind = kind_called(type);
    const char *wrong = !event                      ? why.text
                      : !type                       ? "no event"
                      : !kind                       ? "no kind of event that there is"
                      : !counts_are_possible(event) ? "a counter is no sum"
                                                    : NULL;
    if (!wrong && (e->calling || !kind->of_call)) kind->take(e, event);
    if (e->refused_line) wrong = "no call that there can be";
    if (wrong && !e->malformed
        && asprintf(&e->malformed, "a report of the device cannot be read (%s): %.60s", wrong, line)
               < 0)
        e->malformed = strdup("a report of the device cannot be read");
    json_decref(event);
}

void events_feed(Events *e, const char *bytes, size_t count)
{
    if (e->pending_bytes + count > LINE_LIMIT) {
        if (!e->malformed)
            e->malformed = strdup("a line of the device's report is longer than 16 MiB");
        e->pending_bytes = 0;
        return;
    }

    // A byte more than is pending, so that a whole line can be ended as a string.
    e->pending = realloc(e->pending, e->pending_bytes + count + 1);
    memcpy(e->pending + e->pending_bytes, bytes, count);
    e->pending_bytes += count;

    char *start = e->pending, *stop = start + e->pending_bytes, *end;
    while ((end = memchr(start, '\n', stop - start))) {
        *end = 0;
        take_line(e, start, end - start);
        start = end + 1;
    }
    e->pending_bytes = stop - start;
    memmove(e->pending, start, e->pending_bytes);
}
