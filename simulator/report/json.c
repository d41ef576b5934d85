#define _GNU_SOURCE
#include "base/names.h"
#include "json.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[REPORT_KINDS] = {
    [REPORT_BOUNDS] = "bounds",
    [REPORT_MISALIGNED] = "misaligned",
    [REPORT_USE_AFTER_FREE] = "use-after-free",
    [REPORT_UNINITIALIZED] = "uninitialized",
    [REPORT_RACE] = "race",
    [REPORT_BARRIER] = "barrier",
    [REPORT_TIMEOUT] = "timeout",
    [REPORT_UNSUPPORTED] = "unsupported",
    [REPORT_TRAP] = "trap",
    [REPORT_LEAK] = "leak",
    [REPORT_INVALID_FREE] = "invalid-free",
    [REPORT_HOST_ACCESS] = "host-access",
    [REPORT_API] = "api",
    [REPORT_DEADLOCK] = "deadlock",
    [REPORT_HANG] = "hang",
    [REPORT_UNFINISHED] = "unfinished-copy",
    [REPORT_MBARRIER] = "mbarrier",
};

static const char *const accesses[] = {
    [ACCESS_READ] = "read", [ACCESS_WRITE] = "write", [ACCESS_ATOMIC] = "atomic",
    [ACCESS_COPY] = "copy", [ACCESS_NAME] = "name",
};

static const char *const spaces[] = {
    [IN_GLOBAL] = "global",
    [IN_SHARED] = "shared",
    [IN_LOCAL] = "local",
};

static const char *const uses[] = {
    [USE_ADDRESS] = "address", [USE_STORE] = "store",       [USE_BRANCH] = "branch",
    [USE_ATOMIC] = "atomic",   [USE_MBARRIER] = "mbarrier",
};

static const char *const undefineds[] = {
    [UNDEFINED_UNWRITTEN] = "unwritten",
    [UNDEFINED_COMPUTED] = "computed",
    [UNDEFINED_SHUFFLED] = "shuffled",
};

static const char *const betweens[] = {
    [BETWEEN_DEVICES] = "devices", [BETWEEN_OPERATIONS] = "operations",
    [BETWEEN_FLAG] = "flag",       [BETWEEN_BLOCKS] = "blocks",
    [BETWEEN_LINE] = "line",       [BETWEEN_BARRIER] = "barrier",
    [BETWEEN_BULK] = "bulk",
};

static void write_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(fd, text, bytes);
        if (written <= 0) return; // nobody reads any more
        text += written;
        bytes -= (size_t)written;
    }
}

void report_json_line(int fd, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(object);
    if (!text) return;
    size_t bytes = strlen(text);
    text[bytes] = '\n'; // in place of the 0: one write, one line
    write_all(fd, text, bytes + 1);
    free(text);
}

// Text from programs may be no UTF-8, which JSON must be: then its bytes above 127 become question
// marks.
static json_t *json_text(const char *s)
{
    json_t *text = json_string(s);
    if (text) return text;
    char *copy = strdup(s);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    text = copy ? json_string(copy) : json_null();
    free(copy);
    return text;
}

static void set_text(json_t *object, const char *key, const char *value)
{
    if (value) json_object_set_new(object, key, json_text(value));
}

static void set_integer(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_address(json_t *object, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    set_text(object, key, text);
}

static void set_triple(json_t *object, const char *key, const uint32_t v[3])
{
    json_object_set_new(object, key,
                        json_pack("[III]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]));
}

static void set_place(json_t *object, const Place *place)
{
    set_text(object, "file", place->file);
    if (place->line) set_integer(object, "line", place->line);
    if (!place->object) return;
    json_t *caller = json_object();
    set_text(caller, "object", place->object);
    set_address(caller, "address", place->address);
    json_object_set_new(object, "caller", caller);
}

static void set_callers(json_t *object, const Place callers[PLACE_CALLERS])
{
    if (!callers[0].file) return;
    json_t *array = json_array();
    for (int i = 0; i < PLACE_CALLERS && callers[i].file; i++) {
        json_t *place = json_object();
        set_place(place, &callers[i]);
        json_array_append_new(array, place);
    }
    json_object_set_new(object, "inlined_at", array);
}

static void set_words(json_t *object, const Report *r)
{
    set_text(object, "cause", message_cause(r->cause));
    set_text(object, "message", r->message);
    set_text(object, "why", r->why);
    set_text(object, "next", r->next);
    set_text(object, "kernel", r->kernel);
    set_text(object, "call", r->call);
    set_text(object, "detail", r->detail);
    set_place(object, &r->place);
}

static void set_numbers(json_t *object, const Report *r)
{
    json_t *numbers = json_object();
    for (size_t i = 0; i < REPORT_NUMBERS; i++)
        if (r->number[i].name)
            json_object_set_new(numbers, r->number[i].name, json_integer(r->number[i].value));
    if (json_object_size(numbers)) json_object_set(object, "numbers", numbers);
    json_decref(numbers);
}

void report_json_refused(int fd, const Report *r, int status)
{
    json_t *object = json_pack("{ss si}", "event", "refused", "status", status);
    set_words(object, r);
    set_numbers(object, r);
    report_json_line(fd, object);
}

static void set_says(json_t *object, const ReportWords *says)
{
    if (says->to)
        json_object_set_new(object, "says", json_pack("[ii]", (int)says->from, (int)says->to));
}

static void set_memory(json_t *object, const Report *r, const MessageMemory *m)
{
    json_t *memory = json_pack("{ss si}", "kind", m->kind, "device", (int)m->device);
    set_address(memory, "address", m->address);
    set_integer(memory, "bytes", m->bytes);
    json_object_set_new(memory, "offset", json_integer((json_int_t)(r->address - m->address)));
    set_text(memory, "variable", m->name);
    set_place(memory, &m->made);
    set_says(memory, &r->allocation_says);
    if (m->freed) {
        json_t *freed = json_object();
        set_place(freed, &m->unmade);
        set_says(freed, &r->freed_says);
        json_object_set_new(memory, "freed", freed);
    }
    json_object_set_new(object, "allocation", memory);
}

static void set_other(json_t *object, const ReportOther *o)
{
    json_t *other = json_object();
    set_place(other, &o->place);
    set_text(other, "access", accesses[o->access]);
    set_text(other, "kernel", o->kernel);
    set_text(other, "call", o->call);
    if (!o->call) set_triple(other, "thread", o->thread);
    if (o->has_block) set_triple(other, "block", o->block);
    json_object_set_new(object, "other", other);
}

// Who did it, and where in which memory.
static void set_access(json_t *object, const Report *r)
{
    if (r->has_thread && report_has_several())
        json_object_set_new(object, "device", json_integer(r->device));
    if (r->has_thread) {
        set_triple(object, "block", r->block);
        set_triple(object, "thread", r->thread);
    }
    set_text(object, "access", accesses[r->access]);
    set_text(object, "space", spaces[r->space]);
    if (r->bytes) set_integer(object, "bytes", r->bytes);
    if (r->threads) set_integer(object, "threads", r->threads);
    if (r->address) set_address(object, "address", r->address);
    if (r->has_owner) set_triple(object, "owner", r->owner);
}

static void set_pointer(json_t *object, const ReportPointer *p)
{
    json_t *pointer = json_object();
    if (p->argument) set_integer(pointer, "argument", p->argument);
    if (p->address) set_address(pointer, "address", p->address);
    if (p->argument || p->address) set_integer(pointer, "byte", p->byte);
    json_object_set_new(pointer, "null", json_boolean(p->null));
    if (p->no_malloc) {
        json_t *failed = json_object();
        set_place(failed, &p->malloc_place);
        set_integer(failed, "wanted", p->wanted);
        set_integer(failed, "heap", p->heap);
        json_object_set_new(pointer, "malloc", failed);
    }
    json_object_set_new(object, "pointer", pointer);
}

void report_json_error(int fd, const Report *r, const MessageMemory *memory, uint64_t count)
{
    json_t *object = json_pack("{ss ss}", "event", "error", "kind", kinds[r->kind]);
    set_words(object, r);
    set_callers(object, r->callers);
    set_access(object, r);
    if (r->pointer.from) set_pointer(object, &r->pointer);
    if (r->allocation) set_memory(object, r, memory);
    set_text(object, "use", uses[r->use]);
    set_text(object, "undefined", undefineds[r->undefined]);
    set_text(object, "that", message_that(r));
    if (r->undefined_bytes) set_integer(object, "undefined_bytes", r->undefined_bytes);
    set_text(object, "between", betweens[r->between]);
    if (r->has_other) set_other(object, &r->other);
    set_numbers(object, r);
    set_text(object, "stands", r->waiting_warps);
    set_integer(object, "count", count);
    report_json_line(fd, object);
}

static json_t *counters_json(const CounterName *names, const uint64_t *values, size_t count,
                             bool aside)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        if (names[i].aside == aside) set_integer(object, names[i].name, values[i]);
    return object;
}

// Of a source line all that is not 0.
static json_t *line_json(const CounterName *names, const uint64_t *values, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        if (values[i]) set_integer(object, names[i].name, values[i]);
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
        if (names[i].estimate) json_array_append_new(array, json_text(names[i].name));
}

static json_t *lines_json(const KernelReport *k)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < k->line_count; i++) {
        json_t *counters = line_json(k->counters, k->lines[i].values, k->counter_count);
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

static json_t *findings_json(const KernelReport *k)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < k->finding_count; i++) {
        const Finding *f = &k->findings[i];
        json_t *finding = json_pack("{ss ss ss sf}", "title", f->title, "words", f->words, "next",
                                    f->cure, "cost", f->cost);
        set_place(finding, &f->place);
        if (f->without_ns > 0) json_object_set_new(finding, "without_ns", json_real(f->without_ns));
        json_array_append_new(findings, finding);
    }
    return findings;
}

void report_json_kernel(int fd, const KernelReport *k)
{
    json_t *object = json_pack("{ss}", "event", "kernel"), *estimates = json_array();
    char *name = names_plain(k->signature);
    set_text(object, "name", name);
    free(name);
    set_text(object, "signature", k->signature);
    if (report_has_several()) json_object_set_new(object, "device", json_integer(k->device));
    set_triple(object, "grid", k->grid);
    set_triple(object, "block", k->block);
    json_object_set_new(object, "status", json_integer(k->status));
    json_object_set_new(object, "counters",
                        counters_json(k->counters, k->values, k->counter_count, false));
    json_object_set_new(object, "aside",
                        counters_json(k->counters, k->values, k->counter_count, true));
    json_object_set_new(object, "metrics", metrics_json(k));
    add_estimates(estimates, k->counters, k->counter_count);
    add_estimates(estimates, k->metrics, k->metric_count);
    json_object_set_new(object, "estimates", estimates);
    json_object_set_new(object, "lines", lines_json(k));
    if (k->time_ns > 0) json_object_set_new(object, "time_ns", json_real(k->time_ns));
    if (k->time_ns > 0) set_text(object, "bound", k->bound);
    if (k->finding_count) json_object_set_new(object, "findings", findings_json(k));
    report_json_line(fd, object);
}

void report_json_copy(int fd, const char *kind, uint64_t bytes, const CopyReport *back)
{
    json_t *object =
        json_pack("{ss ss sI}", "event", "copy", "kind", kind, "bytes", (json_int_t)bytes);
    if (back) {
        json_t *words = json_array();
        for (int by = 0; by < WRITERS; by++)
            json_array_append_new(words, json_integer((json_int_t)back->words[by]));
        set_address(object, "to", back->to);
        json_object_set_new(object, "written", words);
    }
    report_json_line(fd, object);
}

static void set_flag(json_t *object, const char *key, bool value)
{
    if (value) json_object_set_new(object, key, json_true());
}

static void set_move(json_t *object, const MoveReport *m)
{
    set_address(object, "to", m->to);
    if (m->fills) set_integer(object, "value", m->value);
    else set_address(object, "from", m->from);
    set_integer(object, "bytes", m->width * m->rows);
    set_flag(object, "pinned", m->pinned);
    if (m->rows == 1) return;
    set_integer(object, "rows", m->rows);
    set_integer(object, "width", m->width);
    json_object_set_new(object, "pitch",
                        json_pack("[II]", (json_int_t)m->to_pitch, (json_int_t)m->from_pitch));
}

static json_t *argument_json(const ArgumentReport *a)
{
    json_t *argument = json_pack("[I]", (json_int_t)a->bytes);
    for (size_t n = 0; n < CALL_WORDS && n * sizeof *a->word < a->bytes; n++)
        json_array_append_new(argument, json_integer((json_int_t)a->word[n]));
    return argument;
}

static void set_launch(json_t *object, const LaunchReport *l)
{
    json_t *arguments = json_array();
    for (size_t i = 0; i < l->count; i++)
        json_array_append_new(arguments, argument_json(&l->arguments[i]));
    set_text(object, "signature", l->signature);
    set_triple(object, "grid", l->grid);
    set_triple(object, "block", l->block);
    if (l->shared) set_integer(object, "shared", l->shared);
    set_flag(object, "ignored", l->ignored);
    json_object_set_new(object, "arguments", arguments);
}

// What the call did.
static void set_deed(json_t *object, const CallReport *c)
{
    set_text(object, "does", c->does);
    set_place(object, &c->place);
    if (c->site) set_integer(object, "site", c->site);
    if (report_has_several()) set_integer(object, "device", c->device);
    if (c->stream >= 0) set_integer(object, "stream", (uint64_t)c->stream);
    if (c->status) json_object_set_new(object, "status", json_integer(c->status));
    set_flag(object, "within", c->within);
    set_text(object, "waits", c->waits);
    set_text(object, "asks", c->asks);
    set_text(object, "variable", c->variable);
    set_text(object, "memory", c->memory);
    set_text(object, "kind", c->kind);
    if (c->address) set_address(object, "address", c->address);
    if (c->bytes) set_integer(object, "bytes", c->bytes);
    if (c->event) set_integer(object, "event_id", c->event);
    if (c->count) set_integer(object, "count", (uint64_t)c->count);
    if (c->move) set_move(object, c->move);
    if (c->launch) set_launch(object, c->launch);
}

void report_json_call(int fd, const CallReport *c)
{
    json_t *object = json_pack("{ss}", "event", "call");
    set_text(object, "name", c->name);
    if (c->end_ns > 0) {
        json_object_set_new(object, "start_ns", json_real(c->start_ns));
        json_object_set_new(object, "end_ns", json_real(c->end_ns));
        set_text(object, "did", c->did);
        set_flag(object, "blocks", c->blocks);
    }
    if (c->does) set_deed(object, c);
    report_json_line(fd, object);
}

void report_json_site(int fd, uint32_t site, const Place *place)
{
    json_t *object = json_pack("{ss si}", "event", "site", "site", (int)site);
    set_text(object, "file", place->file);
    set_integer(object, "line", place->line);
    report_json_line(fd, object);
}
