// Takes the device's events "call" and "site" into the trace. Two tables say which members an event
// must have, and of which type each member is; an event that differs is refused whole.
#define _GNU_SOURCE
#include "trace.h"
#include "../simulator/wire/wire.h"
#include <stdlib.h>
#include <string.h>

// ---- Is it as json.h has it?

typedef bool Check(const json_t *);

static bool is_text(const json_t *v) { return json_is_string(v); }
static bool is_count(const json_t *v) { return json_is_integer(v) && json_integer_value(v) >= 0; }
static bool is_bits(const json_t *v) { return json_is_integer(v); } // of 64, whatever the sign
static bool is_true(const json_t *v) { return json_is_true(v); }
static bool is_object(const json_t *v) { return json_is_object(v); }

static bool is_address(const json_t *v)
{
    const char *text = json_string_value(v);
    return text && strncmp(text, "0x", 2) == 0 && text[2]
        && strspn(text + 2, "0123456789abcdef") == strlen(text + 2);
}

static bool is_list(const json_t *v, size_t count)
{
    if (!json_is_array(v) || json_array_size(v) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!is_bits(json_array_get(v, i))) return false;
    return true;
}

static bool is_pair(const json_t *v) { return is_list(v, 2); }
static bool is_triple(const json_t *v) { return is_list(v, 3); }

// [bytes, word, ...]: as many words as the bytes fill, but no more than there can be.
static bool is_argument(const json_t *v)
{
    const json_t *bytes = json_array_get(v, 0);
    if (!is_count(bytes)) return false;
    uint64_t words = ((uint64_t)json_integer_value(bytes) + 7) / 8;
    if (json_array_size(v) != 1 + (words < TRACED_WORDS ? words : TRACED_WORDS)) return false;
    for (size_t i = 1; i < json_array_size(v); i++)
        if (!json_is_integer(json_array_get(v, i))) return false;
    return true;
}

static bool are_arguments(const json_t *v)
{
    if (!json_is_array(v) || json_array_size(v) > TRACED_ARGUMENTS) return false;
    for (size_t i = 0; i < json_array_size(v); i++)
        if (!is_argument(json_array_get(v, i))) return false;
    return true;
}

static const char *const untils[] = { [UNTIL_NOTHING] = "",
                                      [UNTIL_STREAM] = "stream",
                                      [UNTIL_EVENT] = "event",
                                      [UNTIL_DEVICE] = "device",
                                      [UNTIL_ALL] = "all" };
static const char *const memories[] = { [MEMORY_UNKNOWN] = "",
                                        [MEMORY_OF_DEVICE] = "device",
                                        [MEMORY_OF_BOTH] = "managed",
                                        [MEMORY_PINNED] = "pinned",
                                        [MEMORY_REGISTERED] = "registered" };
static const char *const deeds[] = {
#define X(name, word) [DEED_##name] = word,
    DEEDS(X)
#undef X
};

// The index of a text in a list of `count`; `count`: it is not there.
static size_t index_of(const json_t *text, const char *const *list, size_t count)
{
    size_t n = 0;
    const char *word = json_string_value(text);
    while (n < count && !(word && *word && strcmp(list[n], word) == 0)) n++;
    return n;
}
#define INDEX(text, list) index_of(text, list, sizeof(list) / sizeof *(list))

static bool is_until(const json_t *v) { return INDEX(v, untils) <= UNTIL_ALL; }
static bool is_memory(const json_t *v) { return INDEX(v, memories) <= MEMORY_REGISTERED; }

static const struct {
    const char *key;
    Check *is_good;
} members[] = {
    { "name", is_text },      { "caller", is_object },        { "site", is_count },
    { "device", is_count },   { "stream", is_count },         { "status", is_count },
    { "within", is_true },    { "waits", is_until },          { "asks", is_until },
    { "memory", is_memory },  { "variable", is_text },        { "address", is_address },
    { "bytes", is_bits },     { "to", is_address },           { "from", is_address },
    { "rows", is_bits },      { "width", is_bits },           { "pitch", is_pair },
    { "kind", is_text },      { "pinned", is_true },          { "value", is_bits },
    { "signature", is_text }, { "grid", is_triple },          { "block", is_triple },
    { "shared", is_bits },    { "arguments", are_arguments }, { "ignored", is_true },
    { "event_id", is_bits },  { "count", is_bits },
};

// What an event must have, by what it does. (What is 0 may be left out of the others.)
static const char *const needed[DEEDS_COUNT][6] = {
    [DEED_VARIABLE] = { "variable" },
    [DEED_COPY] = { "kind", "to", "from", "bytes" },
    [DEED_FILL] = { "to", "bytes", "value" },
    [DEED_PREFETCH] = { "kind" },
    [DEED_LAUNCH] = { "grid", "block", "arguments" },
};

static bool is_readable(const json_t *event, size_t deed)
{
    if (deed >= DEEDS_COUNT || !json_object_get(event, "name")) return false;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *value = json_object_get(event, members[i].key);
        if (value && !members[i].is_good(value)) return false;
    }
    for (const char *const *key = needed[deed]; *key; key++)
        if (!json_object_get(event, *key)) return false;
    return true;
}

// ---- Reading it

static uint64_t count_in(const json_t *event, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(event, key));
}

static uint64_t address_in(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

static const char *text_in(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? strdup(text) : NULL;
}

static enum until until_in(const json_t *event, const char *key)
{
    const json_t *text = json_object_get(event, key);
    return text ? (enum until)INDEX(text, untils) : UNTIL_NOTHING;
}

static void read_move(Traced *c, const json_t *event)
{
    const json_t *pitch = json_object_get(event, "pitch"), *kind = json_object_get(event, "kind");
    c->to = address_in(event, "to");
    c->from = address_in(event, "from");
    c->rows = json_object_get(event, "rows") ? count_in(event, "rows") : 1;
    c->width = c->rows == 1 ? c->bytes : count_in(event, "width");
    c->to_pitch = (uint64_t)json_integer_value(json_array_get(pitch, 0));
    c->from_pitch = (uint64_t)json_integer_value(json_array_get(pitch, 1));
    c->pinned = json_object_get(event, "pinned") != NULL;
    c->value = (uint32_t)count_in(event, "value");
    if (kind) strncpy(c->kind, json_string_value(kind), sizeof c->kind - 1);
}

static void read_arguments(Traced *c, const json_t *arguments)
{
    c->argc = json_array_size(arguments);
    c->argv = calloc(c->argc + 1, sizeof *c->argv);
    for (size_t i = 0; i < c->argc; i++) {
        const json_t *argument = json_array_get(arguments, i);
        c->argv[i].bytes = (uint64_t)json_integer_value(json_array_get(argument, 0));
        for (size_t n = 1; n < json_array_size(argument); n++)
            c->argv[i].word[n - 1] = (uint64_t)json_integer_value(json_array_get(argument, n));
    }
}

static void read_launch(Traced *c, const json_t *event)
{
    c->signature = text_in(event, "signature");
    c->shared = count_in(event, "shared");
    for (size_t n = 0; n < 3; n++) {
        c->grid[n] =
            (uint32_t)json_integer_value(json_array_get(json_object_get(event, "grid"), n));
        c->block[n] =
            (uint32_t)json_integer_value(json_array_get(json_object_get(event, "block"), n));
    }
    read_arguments(c, json_object_get(event, "arguments"));
}

static enum error_read read_of(const Traced *c, const json_t *event)
{
    if (c->does == DEED_MISUSE) return ERROR_RETURNED;
    if (!c->status || c->asks) return ERROR_NONE;
    return json_object_get(event, "ignored") ? ERROR_UNREAD : ERROR_RETURNED;
}

static Traced *read_call(const json_t *event, enum deed does)
{
    const json_t *memory = json_object_get(event, "memory");
    Traced *c = calloc(1, sizeof *c);
    *c = (Traced){ .does = does,
                   .name = text_in(event, "name"),
                   .times = 1,
                   .device = (int)count_in(event, "device"),
                   .stream = json_object_get(event, "stream") ? (int)count_in(event, "stream") : -1,
                   .status = (int)count_in(event, "status"),
                   .within = json_object_get(event, "within") != NULL,
                   .waits = until_in(event, "waits"),
                   .asks = until_in(event, "asks"),
                   .memory = memory ? (enum memory)INDEX(memory, memories) : MEMORY_UNKNOWN,
                   .variable = text_in(event, "variable"),
                   .address = address_in(event, "address"),
                   .bytes = count_in(event, "bytes"),
                   .event = count_in(event, "event_id"),
                   .count = count_in(event, "count"),
                   .site = count_in(event, "site") };
    c->read = read_of(c, event);
    if (does == DEED_COPY || does == DEED_FILL || does == DEED_PREFETCH) read_move(c, event);
    if (does == DEED_LAUNCH) read_launch(c, event);
    return c;
}

// ---- Taking it

static void set_line(const Trace *t, Traced *c)
{
    for (size_t i = 0; i < t->sites; i++)
        if (c->site && t->site[i].number == c->site) {
            c->file = t->site[i].file;
            c->line = t->site[i].line;
        }
}

// The program has read an error: that of all launches before.
static void note_read(Trace *t)
{
    for (size_t n = t->count; n-- > 0 && t->all[n]->call == (t->calling ? t->call : 0);)
        if (t->all[n]->read == ERROR_UNREAD) t->all[n]->read = ERROR_READ;
}

static void add(Trace *t, Traced *c)
{
    c->number = t->count;
    c->call = t->calling ? t->call : 0;
    set_line(t, c);
    if (c->does == DEED_CHECK) note_read(t);
    t->all = realloc(t->all, (t->count + 1) * sizeof *t->all);
    t->all[t->count++] = t->last = c;
}

static bool take_again(Trace *t, const json_t *again)
{
    if (!is_count(again) || !(t->last || t->last_is_harness)) return false;
    if (t->last) t->last->times += (uint64_t)json_integer_value(again);
    return true;
}

bool trace_take_call(Trace *t, const json_t *event)
{
    const json_t *does = json_object_get(event, "does"), *again = json_object_get(event, "again"),
                 *left_out = json_object_get(event, "left_out");
    size_t deed = INDEX(does, deeds);
    if (again) return take_again(t, again);
    if (!does) return json_is_string(json_object_get(event, "name"));
    if (left_out) {
        if (deed >= DEEDS_COUNT || !is_count(left_out)) return false;
        t->left_out[deed] += (uint64_t)json_integer_value(left_out);
        return true;
    }
    if (!is_readable(event, deed)) return false;
    t->last = NULL;
    t->last_is_harness = harness_called(&t->harness, event);
    if (!t->last_is_harness) add(t, read_call(event, (enum deed)deed));
    return true;
}

bool trace_take_site(Trace *t, const json_t *event)
{
    const json_t *number = json_object_get(event, "site"), *file = json_object_get(event, "file"),
                 *line = json_object_get(event, "line");
    if (!is_count(number) || !is_text(file) || !is_count(line)) return false;
    t->site = realloc(t->site, (t->sites + 1) * sizeof *t->site);
    t->site[t->sites++] = (TracedSite){ .number = (size_t)json_integer_value(number),
                                        .file = strdup(json_string_value(file)),
                                        .line = (int)json_integer_value(line) };
    for (size_t n = 0; n < t->count; n++) set_line(t, t->all[n]);
    return true;
}
