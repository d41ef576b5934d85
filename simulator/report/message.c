// Fills in the words of causes.def: {name} is looked up among the words below, then among the
// phrases, which have such names in them again, then among the report's numbers.
#define _GNU_SOURCE
#include "message.h"
#include "base/names.h"
#include "memory/memory.h"
#include "origin.h"
#include "phrases.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum report_kind kind;
    const char *message, *why, *next;
} causes[REPORT_CAUSES] = {
#define CAUSE(name, kind, message, why, next)                                                      \
    [CAUSE_##name] = { #name, REPORT_##kind, message, why, next },
#include "causes.def"
#undef CAUSE
};

const char *message_cause(enum report_cause cause) { return causes[cause].name; }

enum report_kind message_kind(enum report_cause cause) { return causes[cause].kind; }

MessageMemory message_memory(const Allocation *a)
{
    static const char *const kinds[] = {
        [MEMORY_DEVICE] = "device",      [MEMORY_VARIABLE] = "variable",
        [MEMORY_STRING] = "variable",    [MEMORY_MANAGED] = "managed",
        [MEMORY_PINNED_HOST] = "pinned", [MEMORY_HEAP] = "heap",
        [MEMORY_IMPORTED] = "imported",
    };
    MessageMemory m = { .address = a->base,
                        .bytes = a->size,
                        .kind = kinds[a->kind],
                        .name = a->name,
                        .device = a->device,
                        .made = a->made_in,
                        .freed = a->freed,
                        .unmade = a->unmade_in };
    if (!m.made.line) origin_place(a->made, MEMORY_CALLERS, &m.made);
    if (m.freed && !m.unmade.line) origin_place(a->unmade, MEMORY_CALLERS, &m.unmade);
    return m;
}

// ---- Words: malloc'ed; NULL: there is nothing to say ----

static char *words(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) text = NULL;
    va_end(arguments);
    return text;
}

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static char *triple(const uint32_t v[3]) { return words("(%u,%u,%u)", v[0], v[1], v[2]); }

static bool stores(enum report_access a) { return a == ACCESS_WRITE || a == ACCESS_ATOMIC; }

static char *access_of(const Report *r) { return copy(stores(r->access) ? "write" : "read"); }

static char *accesses_of(const Report *r)
{
    return copy(stores(r->access) ? "writes" : r->access == ACCESS_NAME ? "names" : "reads");
}

static char *touches(const Report *r)
{
    return copy(r->access == ACCESS_COPY ? "copies to" : stores(r->access) ? "writes to" : "reads");
}

static char *handles(const Report *r)
{
    return r->access == ACCESS_COPY ? strdup("copies") : touches(r);
}

static char *does(const Report *r) { return copy(stores(r->access) ? "also writes" : "reads"); }

static char *more(const Report *r)
{
    if (r->threads < 2) return strdup("");
    return words(" (and %u more thread%s of its warp)", r->threads - 1, r->threads == 2 ? "" : "s");
}

static char *space_of(const Report *r)
{
    static const char *const names[] = { "unknown", "global", "shared", "local" };
    return copy(names[r->space]);
}

static char *use_of(const Report *r)
{
    static const char *const uses[] = {
        [USE_NONE] = "a result",
        [USE_ADDRESS] = "an address",
        [USE_STORE] = "whether a store happens",
        [USE_BRANCH] = "a branch",
        [USE_ATOMIC] = "an atomic operation",
        [USE_MBARRIER] = "an mbarrier",
    };
    return copy(uses[r->use]);
}

const char *message_that(const Report *r)
{
    static const char *const those[] = {
        [UNDEFINED_UNWRITTEN] = "nothing wrote",
        [UNDEFINED_COMPUTED] = "a kernel computed from memory that nothing wrote",
        [UNDEFINED_SHUFFLED] = "a kernel computed from what a shuffle did not get",
    };
    return those[r->undefined];
}

static char *that(const Report *r) { return copy(message_that(r)); }

static char *between(const Report *r)
{
    static const char *const those[] = {
        [BETWEEN_NONE] = "",
        [BETWEEN_DEVICES] = ", and the two are on different devices",
        [BETWEEN_OPERATIONS] = ", and nothing puts the two operations in order",
        [BETWEEN_FLAG] = ", with a flag but no fence between",
        [BETWEEN_BLOCKS] = ", and nothing puts one block before the other",
        [BETWEEN_LINE] = ", by the same line",
        [BETWEEN_BARRIER] = ", with no barrier between",
        [BETWEEN_BULK] = ", with no wait for the copy in bulk between",
    };
    return copy(those[r->between]);
}

static char *thread_of(const Report *r) { return triple(r->thread); }
static char *block_of(const Report *r) { return triple(r->block); }
static char *other_thread(const Report *r) { return triple(r->other.thread); }
static char *owner_of(const Report *r) { return triple(r->owner); }
static char *detail_of(const Report *r) { return copy(r->detail); }
static char *call_of(const Report *r) { return copy(r->call); }
static char *kernel_of(const Report *r) { return copy(r->kernel); }
static char *address_of(const Report *r) { return words("0x%" PRIx64, r->address); }

static char *mask_of(const Report *r)
{
    for (size_t i = 0; i < REPORT_NUMBERS; i++)
        if (r->number[i].name && !strcmp(r->number[i].name, "mask"))
            return words("0x%08x", (uint32_t)r->number[i].value);
    return NULL;
}

// One side of a race: the call, or the thread, and what the other side has not in common with it.
static char *side(const Report *r, bool atomic)
{
    if (!r->has_thread) return copy(r->call);
    char *block = r->other.has_block || r->other.call ? triple(r->block) : NULL;
    bool another = r->other.kernel || r->other.call;
    char *text =
        words("%sthread (%u,%u,%u)%s%s%s%.60s", atomic ? "an atomic of " : "", r->thread[0],
              r->thread[1], r->thread[2], block ? " of block " : "", block ? block : "",
              another ? " of " : "", another && r->kernel ? r->kernel : "");
    free(block);
    return text;
}

static char *other_side(const Report *r, bool atomic)
{
    const ReportOther *o = &r->other;
    if (o->call) return copy(o->call);
    char *block = o->has_block ? triple(o->block) : NULL;
    char *text = words("%sthread (%u,%u,%u)%s%s%s%.60s", atomic ? "an atomic of " : "",
                       o->thread[0], o->thread[1], o->thread[2], block ? " of block " : "",
                       block ? block : "", o->kernel ? " of " : "", o->kernel ? o->kernel : "");
    free(block);
    return text;
}

static char *side_of(const Report *r) { return side(r, false); }
static char *other_side_of(const Report *r) { return other_side(r, false); }
static char *atomic_side(const Report *r) { return side(r, r->access == ACCESS_ATOMIC); }
static char *other_atomic_side(const Report *r)
{
    return other_side(r, r->other.access == ACCESS_ATOMIC);
}

// Where an allocation was made, and that it was freed.
static char *at(const Place *place)
{
    return place->file && place->line ? words(" at %s:%u", names_base(place->file), place->line)
                                      : strdup("");
}

static char *made_of(const Report *r)
{
    if (!r->allocation) return NULL;
    MessageMemory m = message_memory(r->allocation);
    if (m.name) return words("allocation of variable %s", m.name);
    char *where = at(&m.made), *text = words("allocation%s%s", *where ? " made" : "", where);
    free(where);
    return text;
}

static char *freed_at(const Report *r, const char *otherwise)
{
    MessageMemory m = message_memory(r->allocation);
    char *where = m.freed ? at(&m.unmade) : strdup("");
    if (*where) return where;
    free(where);
    return strdup(otherwise);
}

static char *freed_of(const Report *r) { return r->allocation ? freed_at(r, "") : NULL; }
static char *first_freed(const Report *r) { return r->allocation ? freed_at(r, " earlier") : NULL; }

static char *comma_freed(const Report *r)
{
    if (!r->allocation || !r->allocation->freed) return strdup("");
    char *where = freed_at(r, ""), *text = words(", freed%s", where);
    free(where);
    return text;
}

static char *variable_of(const Report *r)
{
    return r->allocation ? copy(r->allocation->name) : NULL;
}

static bool is_pinned(const Report *r)
{
    return r->allocation && r->allocation->kind == MEMORY_PINNED_HOST;
}

static char *free_call(const Report *r)
{
    bool pooled = r->allocation && r->allocation->pooled;
    return copy(pooled ? "cudaFreeAsync" : is_pinned(r) ? "cudaFreeHost" : "cudaFree");
}

static char *host_or_device(const Report *r)
{
    return copy(is_pinned(r) ? "pinned host" : "device");
}

static char *managed_or_pinned(const Report *r)
{
    bool managed = r->allocation && r->allocation->kind == MEMORY_MANAGED;
    return copy(managed ? "managed" : "pinned");
}

static char *malloc_line(const Report *r)
{
    const Place *place = &r->pointer.malloc_place;
    return place->file && place->line ? words("%s:%u", names_base(place->file), place->line) : NULL;
}

// Where the pointer was read from.
static char *memory_of_pointer(const Report *r)
{
    const Allocation *a = r->pointer.allocation;
    if (!a) return NULL;
    MessageMemory m = message_memory(a);
    char *where = at(&m.made);
    char *text = m.name ? words("byte %" PRIu64 " of variable %s", r->pointer.byte, m.name)
                        : words("byte %" PRIu64 " of the %" PRIu64 "-byte allocation%s%s",
                                r->pointer.byte, a->size, *where ? " made" : "", where);
    free(where);
    return text;
}

static const struct {
    const char *name;
    char *(*make)(const Report *);
} word_table[] = {
    { "memory_of_pointer", memory_of_pointer },
    { "malloc_line", malloc_line },
    { "access", access_of },
    { "accesses", accesses_of },
    { "touches", touches },
    { "handles", handles },
    { "does", does },
    { "more", more },
    { "space", space_of },
    { "use", use_of },
    { "that", that },
    { "between", between },
    { "thread", thread_of },
    { "block", block_of },
    { "other_thread", other_thread },
    { "owner", owner_of },
    { "detail", detail_of },
    { "call", call_of },
    { "kernel", kernel_of },
    { "address", address_of },
    { "mask", mask_of },
    { "side", side_of },
    { "other_side", other_side_of },
    { "atomic_side", atomic_side },
    { "other_atomic_side", other_atomic_side },
    { "allocation", made_of },
    { "freed", freed_of },
    { "first_freed", first_freed },
    { "comma_freed", comma_freed },
    { "variable", variable_of },
    { "free_call", free_call },
    { "host_or_device", host_or_device },
    { "managed_or_pinned", managed_or_pinned },
};

bool message_same_line(const Report *r)
{
    const Place *a = &r->place, *b = &r->other.place;
    return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

// ---- Numbers ----

// Of an allocation, and of where the address lies beside it.
static bool memory_number(const Report *r, const char *name, int64_t *value)
{
    const Allocation *a = r->allocation;
    if (!a) return false;
    int64_t offset = (int64_t)(r->address - a->base);
    if (!strcmp(name, "size")) *value = (int64_t)a->size;
    else if (!strcmp(name, "memory_device")) *value = a->device;
    else if (!strcmp(name, "offset")) *value = offset;
    else if (!strcmp(name, "element_number")) *value = offset / (int64_t)r->bytes;
    else if (!strcmp(name, "elements")) *value = (int64_t)(a->size / r->bytes);
    else if (!strcmp(name, "before")) *value = -offset;
    else if (!strcmp(name, "beyond")) *value = offset - (int64_t)a->size;
    else return false;
    return true;
}

bool message_number(const Report *r, const char *name, int64_t *value)
{
    for (size_t i = 0; i < REPORT_NUMBERS; i++)
        if (r->number[i].name && !strcmp(r->number[i].name, name)) {
            *value = r->number[i].value;
            return true;
        }
    if (!strcmp(name, "bytes")) *value = (int64_t)r->bytes;
    else if (!strcmp(name, "threads")) *value = r->threads;
    else if (!strcmp(name, "device")) *value = r->device;
    else if (!strcmp(name, "undefined")) *value = (int64_t)r->undefined_bytes;
    else if (!strcmp(name, "argument")) *value = r->pointer.argument;
    else if (!strcmp(name, "argument_bytes")) *value = (int64_t)r->pointer.bytes;
    else if (!strcmp(name, "pointer_byte")) *value = (int64_t)r->pointer.byte;
    else if (!strcmp(name, "wanted")) *value = (int64_t)r->pointer.wanted;
    else if (!strcmp(name, "heap")) *value = (int64_t)r->pointer.heap;
    else if (!strcmp(name, "at")) *value = (int32_t)r->address;
    else if (!strcmp(name, "under")) *value = -(int64_t)(int32_t)r->address;
    else return memory_number(r, name, value);
    return true;
}

// ---- Filling in ----

typedef struct {
    FILE *to;
    Report *report;
} Sentence;

static void fill_in(Sentence *s, const char *at, const char *end);

static void note_words(ReportWords *words, FILE *to, const char *text)
{
    long from = ftell(to);
    fputs(text, to);
    *words = (ReportWords){ (uint32_t)from, (uint32_t)ftell(to) };
}

static bool put_word(Sentence *s, const char *name)
{
    for (size_t i = 0; i < sizeof word_table / sizeof *word_table; i++) {
        if (strcmp(word_table[i].name, name)) continue;
        char *text = word_table[i].make(s->report);
        if (text && word_table[i].make == made_of && !s->report->allocation->name)
            note_words(&s->report->allocation_says, s->to, text);
        else if (text && *text && word_table[i].make == comma_freed)
            note_words(&s->report->freed_says, s->to, text);
        else if (text) fputs(text, s->to);
        free(text);
        return text;
    }
    const char *(*choose)(const Report *) = phrase_find(name);
    const char *text = choose ? choose(s->report) : NULL;
    if (text) fill_in(s, text, text + strlen(text));
    return text;
}

// {name}, {name:one|many} or {name?words}. False: there is no such fact.
static bool put_fact(Sentence *s, const char *at, const char *end)
{
    char name[48];
    size_t length = strcspn(at, ":?}");
    int64_t value = 0;
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    const char *form = at + length, *other = memchr(form, '|', end - form);
    bool known = *form == '}' ? put_word(s, name) : false;
    if (known) return true;
    known = message_number(s->report, name, &value);
    if (*form == '?' && known && value) fill_in(s, form + 1, end);
    else if (*form == ':' && known && other)
        fill_in(s, value == 1 ? form + 1 : other + 1, value == 1 ? other : end);
    else if (*form == '}' && known) fprintf(s->to, "%" PRId64, value);
    return known;
}

// The end of what begins with an opening bracket at `at`: the closing one.
static const char *closing(const char *at, const char *end, char opens, char closes)
{
    for (int depth = 0; at < end; at++) {
        depth += (*at == opens) - (*at == closes);
        if (!depth) break;
    }
    return at;
}

// All between [ and ], if all facts in it are there.
static void fill_in_if_known(Sentence *s, const char *at, const char *end)
{
    char *text = NULL;
    size_t bytes = 0;
    bool known = true;
    Sentence trial = { .to = open_memstream(&text, &bytes), .report = s->report };
    for (const char *p = at; p < end && known; p++)
        if (*p == '{') {
            const char *close = closing(p, end, '{', '}');
            known = put_fact(&trial, p + 1, close);
            p = close;
        }
    fclose(trial.to);
    free(text);
    if (known) fill_in(s, at, end);
}

static void fill_in(Sentence *s, const char *at, const char *end)
{
    for (; at < end; at++) {
        bool twice = at + 1 < end && at[1] == *at;
        if (*at == '{') {
            const char *close = closing(at, end, '{', '}');
            if (!put_fact(s, at + 1, close) && !memchr(at, '?', close - at))
                fprintf(s->to, "%.*s", (int)(close + 1 - at), at); // a mistake of ours, to be seen
            at = close;
        } else if (*at == '[' && !twice) {
            const char *close = closing(at, end, '[', ']');
            fill_in_if_known(s, at + 1, close);
            at = close;
        } else {
            putc(*at, s->to);
            at += twice && (*at == '[' || *at == ']');
        }
    }
}

static char *filled_in(Report *r, const char *words)
{
    char *text = NULL;
    size_t bytes = 0;
    Sentence s = { .to = open_memstream(&text, &bytes), .report = r };
    if (!s.to) return NULL;
    fill_in(&s, words, words + strlen(words));
    fclose(s.to);
    if (bytes) return text;
    free(text);
    return NULL;
}

static const char *made(Report *r, const char *given, const char *words)
{
    return given ? strdup(given) : words ? filled_in(r, words) : NULL;
}

void message_make(Report *r)
{
    bool given = r->message;
    ReportWords allocation = r->allocation_says, freed = r->freed_says;
    r->why = made(r, r->why, causes[r->cause].why);
    r->next = made(r, r->next, causes[r->cause].next);
    r->allocation_says = given ? allocation : (ReportWords){ 0 };
    r->freed_says = given ? freed : (ReportWords){ 0 };
    r->message = made(r, r->message, causes[r->cause].message);
}

void message_free(Report *r)
{
    free((char *)r->message);
    free((char *)r->why);
    free((char *)r->next);
}
