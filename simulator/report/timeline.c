// Each event is a line of JSON. The lines of all device processes go to one file without a name,
// whose place for the next byte they share; at the end the machine's process puts a frame around
// them.

#define _GNU_SOURCE
#include "timeline.h"
#include "whole.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIDS_EACH = 100,
    DEFAULT_ROW = 1,
    MOST_ROWS = 4096
}; // of a program: its own, and those of its devices

static const char *target; // the file's name; NULL: nothing is kept
static int spool = -1;
static uint32_t number; // of the program that is served
static const char *device_name;
static uint64_t named[MOST_ROWS]; // rows that have been given their names
static size_t named_count;

bool timeline_open(const char *path)
{
    target = path;
    spool = whole_spool("warpwise-timeline");
    return spool >= 0;
}

bool timeline_is_on(void) { return target != NULL; }

void timeline_process(uint32_t n, const char *name)
{
    number = n;
    device_name = name;
}

// One write, so that no other process's line comes between.
static void keep(json_t *event)
{
    char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(event);
    if (!text) return;
    size_t bytes = strlen(text);
    text[bytes] = '\n'; // in place of the 0
    whole_add(spool, text, bytes + 1);
    free(text);
}

static int pid_of(TimelineRow row)
{
    return (int)(number * PIDS_EACH) + (row.on_device ? 2 + (int)row.device : 1);
}
static int tid_of(TimelineRow row) { return row.on_device ? DEFAULT_ROW + (int)row.stream : 1; }

static void keep_name(const char *what, TimelineRow row, const char *name)
{
    keep(json_pack("{ss ss si si s{ss}}", "name", what, "ph", "M", "pid", pid_of(row), "tid",
                   tid_of(row), "args", "name", name));
}

static bool is_new(uint64_t row)
{
    for (size_t i = 0; i < named_count; i++)
        if (named[i] == row) return false;
    if (named_count < MOST_ROWS) named[named_count++] = row;
    return true;
}

// What a row and its process are called is said once.
static void introduce(TimelineRow row)
{
    char name[300];
    uint64_t process = (uint64_t)pid_of(row) << 32;
    if (is_new(process)) {
        if (row.on_device)
            snprintf(name, sizeof name, "device %u, %s", row.device,
                     device_name ? device_name : "simulated");
        else snprintf(name, sizeof name, "host");
        keep_name("process_name", row, name);
        keep(json_pack("{ss ss si s{si}}", "name", "process_sort_index", "ph", "M", "pid",
                       pid_of(row), "args", "sort_index", pid_of(row)));
    }
    if (!is_new(process | (uint32_t)tid_of(row))) return;
    if (!row.on_device) snprintf(name, sizeof name, "calls of CUDA");
    else if (row.stream) snprintf(name, sizeof name, "stream %llu", (unsigned long long)row.stream);
    else snprintf(name, sizeof name, "default stream");
    keep_name("thread_name", row, name);
}

// Microseconds to the picosecond: what is beyond comes from the arithmetic.
static double microseconds(double ns) { return (double)(long long)(ns * 1e3 + 0.5) / 1e6; }

static json_t *triple(const uint32_t *n) { return json_sprintf("(%u,%u,%u)", n[0], n[1], n[2]); }

static json_t *arguments(TimelineRow row, const TimelineFacts *f)
{
    json_t *args = json_object();
    if (row.on_device) json_object_set_new(args, "stream", json_integer((json_int_t)row.stream));
    if (f->grid) json_object_set_new(args, "grid", triple(f->grid));
    if (f->block) json_object_set_new(args, "block", triple(f->block));
    if (f->shared) json_object_set_new(args, "shared", json_integer((json_int_t)f->shared));
    if (f->bytes) json_object_set_new(args, "bytes", json_integer((json_int_t)f->bytes));
    if (f->error) json_object_set_new(args, "error", json_string(f->error));
    if (f->place)
        json_object_set_new(args, "source", json_sprintf("%s:%u", f->place->file, f->place->line));
    return args;
}

// An arrow from the call that issued the work to the work. Each has a number of its own.
static void keep_arrow(TimelineRow row, double from_ns, double to_ns)
{
    static json_int_t arrows;
    const TimelineRow host = { 0 };
    const json_int_t id = ((json_int_t)number << 32) + ++arrows;
    introduce(host);
    keep(json_pack("{ss ss ss sI sf si si}", "name", "issues", "cat", "issue", "ph", "s", "id", id,
                   "ts", microseconds(from_ns), "pid", pid_of(host), "tid", tid_of(host)));
    keep(json_pack("{ss ss ss ss sI sf si si}", "name", "issues", "cat", "issue", "ph", "f", "bp",
                   "e", "id", id, "ts", microseconds(to_ns), "pid", pid_of(row), "tid",
                   tid_of(row)));
}

void timeline_span(TimelineRow row, const char *kind, const char *name, double start_ns,
                   double end_ns, const TimelineFacts *facts)
{
    if (!target) return;
    introduce(row);
    json_t *event =
        json_pack("{so ss ss sf sf si si so}", "name",
                  facts->error ? json_sprintf("%s: %s", name, facts->error) : json_string(name),
                  "cat", facts->error ? "error" : kind, "ph", "X", "ts", microseconds(start_ns),
                  "dur", microseconds(end_ns - start_ns), "pid", pid_of(row), "tid", tid_of(row),
                  "args", arguments(row, facts));
    if (facts->error) json_object_set_new(event, "cname", json_string("terrible"));
    if (event) keep(event);
    if (facts->issued && row.on_device) keep_arrow(row, facts->issued_ns, start_ns);
}

void timeline_moment(TimelineRow row, const char *name, double at_ns, uint64_t event)
{
    if (!target) return;
    introduce(row);
    keep(json_pack("{ss ss ss ss sf si si s{sI}}", "name", name, "cat", "event", "ph", "i", "s",
                   "t", "ts", microseconds(at_ns), "pid", pid_of(row), "tid", tid_of(row), "args",
                   "event", (json_int_t)event));
}

// ---- The file ----

// All lines, with a comma behind each but the last.
static bool write_lines(FILE *to)
{
    static char buffer[1 << 16];
    ssize_t got;
    bool pending = false; // a line's end that may want a comma
    if (lseek(spool, 0, SEEK_SET) < 0) return false;
    while ((got = read(spool, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (pending) fputs(",\n", to);
            pending = buffer[i] == '\n';
            if (!pending) putc(buffer[i], to);
        }
    return got == 0;
}

bool timeline_close(void)
{
    if (!target) return true;
    WholeFile w = whole_open(target);
    bool good = w.file && fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", w.file) >= 0
             && write_lines(w.file) && fputs("\n]}\n", w.file) >= 0;
    return whole_close(&w, good);
}
