// Questions to the trace. Each is a search through a few hundred calls, and is asked only when an
// answer is wrong.
#include "trace.h"
#include "../simulator/wire/wire.h"
#include <stdlib.h>
#include <string.h>

const Traced *trace_next(const Trace *t, const Traced *c, unsigned deeds)
{
    for (size_t n = c ? c->number + 1 : 0; t->call && n < t->count; n++)
        if (t->all[n]->call == t->call && deeds >> t->all[n]->does & 1) return t->all[n];
    return NULL;
}

bool trace_is_complete(const Trace *t, unsigned deeds)
{
    for (int d = 0; d < DEEDS_COUNT; d++)
        if (deeds >> d & 1 && t->left_out[d]) return false;
    return true;
}

// ---- Whose memory it is

static bool is_within(uint64_t address, uint64_t begin, uint64_t bytes)
{
    return address >= begin && address - begin < bytes;
}

static const TracedArray *array_at(const Trace *t, uint64_t address)
{
    for (size_t i = 0; i < t->arrays; i++)
        if (is_within(address, t->array[i].address, t->array[i].bytes)) return &t->array[i];
    return NULL;
}

// The latest of the first `end` calls that has made the memory.
static const Traced *made_at(const Trace *t, uint64_t address, size_t end)
{
    for (size_t n = end; n-- > 0;) {
        const Traced *c = t->all[n];
        if ((TRACE(ALLOC) | TRACE(VARIABLE)) >> c->does & 1 && !c->status
            && is_within(address, c->address, c->bytes))
            return c;
    }
    return NULL;
}

static const Traced *freed_by(const Trace *t, const Traced *made, size_t end)
{
    for (size_t n = made->number + 1; made->does == DEED_ALLOC && n < end; n++) {
        const Traced *c = t->all[n];
        bool frees = c->does == DEED_FREE && c->address == made->address;
        bool resets = c->does == DEED_RESET && c->device == made->device;
        if (!c->status && (frees || resets)) return c;
    }
    return NULL;
}

Whose trace_whose(const Trace *t, uint64_t address, const Traced *at)
{
    Whose w = { .whose = address >= WIRE_MEMORY && address < WIRE_END ? WHOSE_NOBODY : WHOSE_HOST };
    size_t end = at ? at->number : t->count;
    if (!at || at->call == t->call) w.array = array_at(t, address);
    if (!w.array) w.made = made_at(t, address, end);
    if (w.made) w.freed = freed_by(t, w.made, end);
    if (w.array || w.made) {
        w.whose = w.array ? WHOSE_ARGUMENT : WHOSE_OWN;
        w.offset = address - (w.array ? w.array->address : w.made->address);
    }
    return w;
}

// ---- Copies

static bool is_of_argument(const Trace *t, uint64_t address, const Traced *at, size_t argument)
{
    Whose w = trace_whose(t, address, at);
    return w.array && w.array->argument == argument;
}

const Traced *trace_copy_to(const Trace *t, size_t argument, const Traced *c)
{
    while ((c = trace_next(t, c, TRACE(COPY))))
        if (!c->status && is_of_argument(t, c->to, c, argument)) return c;
    return NULL;
}

const Traced *trace_copy_from(const Trace *t, size_t argument, const Traced *c)
{
    while ((c = trace_next(t, c, TRACE(COPY))))
        if (!c->status && is_of_argument(t, c->from, c, argument)) return c;
    return NULL;
}

// ---- The arguments of a launch

// The beginning of the list of parameters, which ends the signature: "(float*, int)"; NULL: none.
static const char *parameters_of(const char *signature)
{
    const char *end = signature ? strrchr(signature, ')') : NULL;
    int depth = 0;
    for (const char *at = end; at && at >= signature; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0) return at;
    }
    return NULL;
}

// A list of types, separated by commas that stand in no brackets of their own.
typedef struct Types {
    const char *at; // the beginning of the next one; NULL: there is none
} Types;

// The next type. False: there is none.
static bool next_type(Types *types, char *type, size_t room)
{
    const char *end = types->at;
    int depth = 0;
    if (!types->at) return false;
    for (; *end; end++) {
        if (depth == 0 && (*end == ',' || *end == ')')) break;
        depth += strchr("(<[{", *end) != NULL;
        depth -= strchr(")>]}", *end) != NULL;
    }
    size_t bytes = (size_t)(end - types->at);
    if (bytes >= room) bytes = room - 1;
    memcpy(type, types->at, bytes);
    type[bytes] = 0;
    types->at = *end == ',' ? end + 1 + strspn(end + 1, " ") : NULL;
    return bytes > 0;
}

// Copies the type of argument `n`. What it copies is empty if the signature has another number of
// them than the launch.
static void type_of(const Traced *launch, size_t n, char *type, size_t room)
{
    const char *list = parameters_of(launch->signature);
    Types types = { list ? list + 1 : NULL };
    char next[sizeof((TracedValue *)0)->type];
    size_t count = 0;
    *type = 0;
    while (next_type(&types, next, sizeof next))
        if (count++ == n) memcpy(type, next, room < sizeof next ? room : sizeof next);
    if (count != launch->argc) *type = 0;
}

static const struct {
    const char *name;
    bool is_signed, is_real;
} numbers[] = {
    { "bool", false, false },       { "char", true, false },
    { "signed char", true, false }, { "unsigned char", false, false },
    { "short", true, false },       { "unsigned short", false, false },
    { "int", true, false },         { "unsigned int", false, false },
    { "long", true, false },        { "unsigned long", false, false },
    { "long long", true, false },   { "unsigned long long", false, false },
    { "float", true, true },        { "double", true, true },
};

// The number in the low bytes of a word.
static int64_t integer_of(uint64_t word, uint64_t bytes, bool is_signed)
{
    if (bytes >= sizeof word) return (int64_t)word;
    uint64_t sign = 1ull << (8 * bytes - 1), low = word & (2 * sign - 1);
    return (int64_t)(is_signed ? (low ^ sign) - sign : low);
}

static double real_of(uint64_t word, uint64_t bytes)
{
    float narrow;
    double wide;
    memcpy(&narrow, &word, sizeof narrow);
    memcpy(&wide, &word, sizeof wide);
    return bytes == sizeof narrow ? narrow : wide;
}

TracedValue trace_value(const Trace *t, const Traced *launch, size_t n)
{
    const TracedBytes *b = &launch->argv[n];
    TracedValue v = { .kind = VALUE_BYTES };
    type_of(launch, n, v.type, sizeof v.type);
    size_t length = strlen(v.type);
    if (length && v.type[length - 1] == '*' && b->bytes == sizeof *b->word) {
        v.kind = VALUE_POINTER;
        v.address = b->word[0];
        v.whose = trace_whose(t, v.address, launch);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(v.type, numbers[i].name) != 0 || !b->bytes || b->bytes > sizeof *b->word)
            continue;
        v.kind = numbers[i].is_real ? VALUE_REAL : VALUE_INTEGER;
        if (numbers[i].is_real) v.real = real_of(b->word[0], b->bytes);
        else v.integer = integer_of(b->word[0], b->bytes, numbers[i].is_signed);
    }
    return v;
}

// ---- Waiting, and errors

// Does a wait for its stream include that work? The trace does not know which streams are
// cudaStreamNonBlocking.
static bool holds_for(const Traced *wait, const Traced *work)
{
    return wait->device == work->device && (wait->stream == work->stream || wait->stream == 0);
}

// Was the event recorded between the two, after that work?
static bool is_recorded(const Trace *t, const Traced *work, const Traced *wait)
{
    for (const Traced *r = work; (r = trace_next(t, r, TRACE(RECORD))) && r->number < wait->number;)
        if (!r->status && r->event == wait->event && holds_for(r, work)) return true;
    return false;
}

static bool waits_for(const Trace *t, const Traced *wait, const Traced *work)
{
    switch (wait->status ? UNTIL_NOTHING : wait->waits) {
    case UNTIL_NOTHING: return false;
    case UNTIL_STREAM: return holds_for(wait, work);
    case UNTIL_EVENT: return is_recorded(t, work, wait);
    case UNTIL_DEVICE: return wait->device == work->device;
    case UNTIL_ALL: return true;
    }
    return false;
}

const Traced *trace_wait(const Trace *t, const Traced *c)
{
    for (const Traced *w = c; w; w = trace_next(t, w, TRACE_ALL))
        if (waits_for(t, w, c)) return w;
    return NULL;
}

const Traced *trace_unread(const Trace *t, const Traced *c)
{
    while ((c = trace_next(t, c, TRACE_ALL)))
        if (c->read == ERROR_UNREAD) return c;
    return NULL;
}

// ---- Writing

void trace_new_call(Trace *t)
{
    t->call++;
    t->calling = true;
    t->arrays = 0;
    memset(t->left_out, 0, sizeof t->left_out);
}

void trace_end_call(Trace *t) { t->calling = false; }

void trace_add_array(Trace *t, TracedArray array)
{
    t->array = realloc(t->array, (t->arrays + 1) * sizeof *t->array);
    t->array[t->arrays++] = array;
}
