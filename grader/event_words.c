// The device knows allocations; the student knows the arrays of the call, as arguments of a
// function.
#define _GNU_SOURCE
#include "event_words.h"
#include "buffer.h"
#include "check.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *words_of(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

bool event_by_harness(const json_t *place) { return harness_called(&check.session.harness, place); }

bool event_by_owner(const json_t *place)
{
    const json_t *caller = json_object_get(place, "caller");
    const char *object = json_string_value(json_object_get(caller, "object"));
    return object && strcmp(object, "owner") == 0;
}

// The buffer of the last call that is nearest to a device address: as an argument, and as the
// student calls it. NULL: none.
typedef struct Near {
    const Buffer *buffer;
    uint64_t bytes; // from the beginning of the part that is meant, where the address lies in it;
                    // else UINT64_MAX
    uint32_t part;
    char name[64];
} Near;

static const Near *buffer_near(uint64_t address)
{
    static Near near;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < check.argc; i++) {
        const Arg *a = &check.argv[i];
        bool one = a->kind == ARG_DEVICE || a->kind == ARG_PINNED || a->kind == ARG_SCRATCH;
        uint32_t parts = a->kind == ARG_SPREAD ? a->parts : one;
        for (uint32_t p = 0; p < parts; p++) {
            uint64_t start = check.address[i][p];
            if (!start) continue;
            uint64_t end = start + buffer_bytes(a->buffer) / parts;
            uint64_t away = address < start ? start - address : address >= end ? address - end : 0;
            if (away >= best) continue;
            best = away;
            near =
                (Near){ .buffer = a->buffer,
                        .part = p,
                        .bytes = address >= start && address < end ? address - start : UINT64_MAX };
            snprintf(near.name, sizeof near.name, a->kind == ARG_SPREAD ? "%s[%u]" : "%s",
                     a->buffer->name, p);
        }
    }
    return best < UINT64_MAX ? &near : NULL;
}

static const Near *near_event(const json_t *event)
{
    const char *words = words_of(event, "address");
    uint64_t address = words ? strtoull(words, NULL, 0) : 0;
    return address > UINT32_MAX ? buffer_near(address) : NULL; // shared memory has no more bits
}

static bool is_unwritten(const json_t *event)
{
    const char *undefined = words_of(event, "undefined");
    return undefined && strcmp(undefined, "unwritten") == 0;
}

// Bytes of a buffer that our own harness copied back, and that nothing wrote: it is the buffer that
// the student knows, and not the copy. NULL: this is something else.
static char *unwritten_words(const json_t *event)
{
    const Near *near = near_event(event);
    const char *that = words_of(event, "that");
    uint64_t bytes = json_integer_value(json_object_get(event, "undefined_bytes"));
    if (!that || !bytes || !event_by_harness(event) || !near || near->bytes == UINT64_MAX)
        return NULL;
    uint64_t size = element_bytes(near->buffer->store->element), count = (bytes + size - 1) / size;
    size_t index = near->bytes / size;
    bool whole = strcmp(near->name, near->buffer->name) == 0;
    char *place =
        whole ? buffer_place(near->buffer, index) : text_format("%s[%zu]", near->name, index);
    char *words = count > 1 ? text_format("%s is the first of %llu elements of %s that %s", place,
                                          (unsigned long long)count, near->name, that)
                            : text_format("%s is an element that %s", place, that);
    free(place);
    return words;
}

char *event_why(const json_t *event, const char *why)
{
    const Near *near = near_event(event);
    const Buffer *b = near ? near->buffer : NULL;
    const char *launched = check.session.events.launched;
    if (kind_of(event) == KIND_BOUNDS && b && b->rows && b->cols && why)
        return text_format("%s %s has %zu row%s of %zu element%s.", why, b->name, b->rows,
                           b->rows == 1 ? "" : "s", b->cols, b->cols == 1 ? "" : "s");
    if (is_unwritten(event) && event_by_harness(event) && launched && why)
        return text_format("%s %s.", why, launched);
    return why ? strdup(why) : NULL;
}

// Where in the message something is said: "says" of an allocation, or of how that was freed. Both
// 0: nowhere.
typedef struct Stretch {
    size_t from, to;
} Stretch;

static Stretch stretch_of(const json_t *object, size_t length)
{
    json_int_t from = 0, to = 0;
    if (json_unpack(json_object_get(object, "says"), "[II]", &from, &to) || from < 0 || to < from
        || (size_t)to > length)
        return (Stretch){ 0 };
    return (Stretch){ from, to };
}

char *event_says(const json_t *event)
{
    const char *says = words_of(event, "message"), *kind = words_of(event, "kind");
    const json_t *made = json_object_get(event, "allocation"),
                 *freed = json_object_get(made, "freed");
    char *unwritten = unwritten_words(event);
    if (unwritten) return unwritten;
    if (!says) says = kind ? kind : "an error without a kind";
    Stretch name = stretch_of(made, strlen(says)), end = stretch_of(freed, strlen(says));
    if (!name.to || !event_by_harness(made)) return strdup(says);

    // The harness frees what a call was given when it is over: who uses it then has kept a pointer.
    const Near *near = near_event(event);
    bool stale = end.from == name.to && event_by_harness(freed);
    return text_format("%.*s%s%s%s", (int)name.from, says,
                       near ? near->name : "buffer that the function was given",
                       stale ? " of an earlier call" : "", says + (stale ? end.to : name.to));
}
