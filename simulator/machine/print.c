// Device printf and assert. As on a GPU, their text is kept until the host synchronises.
#define _GNU_SOURCE
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/windows.h"
#include "dynamic_launch.h"
#include "condition.h"
#include "grid_state.h"
#include "heap.h"
#include "memory/memory.h"
#include "print.h"
#include "source_fill.h"

enum { MOST_ARGUMENTS = 32 }; // of a printf, besides its format (Programming Guide)

static struct {
    char *text;
    size_t bytes;
    FILE *file;
} printed[WIRE_PRINTED_TO];
static bool used;

bool print_used(void) { return used; }

static FILE *open_text(enum wire_printed to)
{
    if (!printed[to].file) printed[to].file = open_memstream(&printed[to].text, &printed[to].bytes);
    return printed[to].file;
}

static FILE *buffer(void)
{
    used = true;
    return open_text(WIRE_PRINTED_OUT);
}

char *print_take(enum wire_printed to, size_t *bytes)
{
    if (!printed[to].file) return NULL;
    fclose(printed[to].file);
    printed[to].file = NULL;
    *bytes = printed[to].bytes;
    return printed[to].text;
}

// The host address of a lane's generic address; NULL: there is no memory.
static const u8 *byte_at(const Warp *w, u32 lane, u64 address)
{
    u32 local_bytes = w->block->grid->kernel->local_bytes;
    if (address - LOCAL_WINDOW < local_bytes)
        return w->local + lane * local_bytes + (address - LOCAL_WINDOW);
    u64 offset = address - SHARED_WINDOW - w->block->shared_base;
    if (offset < w->block->shared_span) return w->block->shared + offset;
    const Allocation *a = memory_find(address);
    return a && !a->freed ? (u8 *)address : NULL;
}

// Copies the string at a generic address, up to the first unreadable byte. The caller frees it.
static char *string_at(const Warp *w, u32 lane, u64 address)
{
    char *copy = NULL;
    size_t bytes;
    FILE *f = open_memstream(&copy, &bytes);
    for (const u8 *c; (c = byte_at(w, lane, address)) && *c; address++) fputc(*c, f);
    fclose(f);
    return copy;
}

// The next argument. The arguments are in the lane's memory, each aligned to its size.
static u64 argument(const Warp *w, u32 lane, u64 base, u32 *at, u32 size)
{
    u64 value = 0;
    *at = (*at + size - 1) / size * size;
    for (u32 n = 0; n < size; n++) {
        const u8 *byte = byte_at(w, lane, base + *at + n);
        if (byte) value |= (u64)*byte << 8 * n;
    }
    *at += size;
    return value;
}

// Prints one conversion, whose text from '%' to its letter is `spec`. Returns how many arguments it
// took. What a GPU's printf does not support is printed as it stands in the format: precisions of
// `*`, and the lengths z, j, t and L.
static u32 convert(const Warp *w, u32 lane, u64 base, u32 *at, const char *spec)
{
    char kind = spec[strlen(spec) - 1];
    bool wide = strchr(spec, 'l');
    if (strstr(spec, ".*")) kind = 0;
    bool field = kind && strchr(spec, '*');
    u32 star = field ? argument(w, lane, base, at, 4) : 0;
#define EMIT(value) (field ? fprintf(buffer(), spec, star, value) : fprintf(buffer(), spec, value))
    union {
        u64 bits;
        double value;
    } number;
    switch (kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        number.bits = argument(w, lane, base, at, wide ? 8 : 4);
        if (wide) EMIT((long long)number.bits);
        else EMIT((int)number.bits);
        break;
    case 'c': EMIT((int)argument(w, lane, base, at, 4)); break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        number.bits = argument(w, lane, base, at, 8);
        EMIT(number.value);
        break;
    case 'p': EMIT((void *)argument(w, lane, base, at, 8)); break;
    case 's': {
        u64 address = argument(w, lane, base, at, 8);
        char *string = address ? string_at(w, lane, address) : strdup("(null)");
        EMIT(string);
        free(string);
        break;
    }
    default: fputs(spec, buffer()); return field;
    }
#undef EMIT
    return field + 1;
}

// Returns how many arguments it printed, as the hardware's vprintf does. Conversions beyond the
// maximum are printed as they stand in the format; an H200 prints arbitrary values there.
static s32 print_lane(const Warp *w, u32 lane, const char *format, u64 arguments)
{
    u32 at = 0, count = 0;
    for (const char *f = format; *f;) {
        size_t plain = strcspn(f, "%");
        fwrite(f, 1, plain, buffer());
        f += plain;
        if (!*f) break;
        size_t length = 1 + strspn(f + 1, "-+ #0123456789.*hl");
        if (f[length]) length++;
        char spec[64];
        if (f[1] == '%') fputc('%', buffer()), length = 2;
        else if (length < sizeof spec) {
            snprintf(spec, length + 1, "%s", f);
            if (count + (strchr(spec, '*') ? 2 : 1) <= MOST_ARGUMENTS)
                count += convert(w, lane, arguments, &at, spec);
            else fputs(spec, buffer()), count = MOST_ARGUMENTS;
        }
        f += length;
    }
    return count;
}

// vprintf(format, arguments): what printf is compiled to.
static void run_vprintf(Warp *w, const Insn *i, u32 mask)
{
    const u64 *format = row_of(w, i->a), *arguments = row_of(w, i->b);
    s32 *result = row_of(w, i->d);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        char *string = string_at(w, l, format[l]);
        result[l] = print_lane(w, l, string, arguments[l]);
        free(string);
    }
}

// What CUDA's own runtime prints on stderr for the thread.
static void print_assertion(const Warp *w, const Insn *i, const Report *r, u32 lane)
{
    const u64 *file = row_of(w, i->b), *function = row_of(w, i->vector[0]);
    const u32 *line = row_of(w, i->c);
    char *file_name = string_at(w, lane, file[lane]), *name = string_at(w, lane, function[lane]);
    fprintf(open_text(WIRE_PRINTED_ERR),
            "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file_name,
            line[lane], name, r->block[0], r->block[1], r->block[2], r->thread[0], r->thread[1],
            r->thread[2], r->detail);
    free(file_name);
    free(name);
}

// __assertfail(expression, file, line, function, character size)
static void run_assertfail(Warp *w, const Insn *i, u32 mask)
{
    const u64 *expression = row_of(w, i->a);
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        Report r = { .cause = CAUSE_assertion_failed,
                     .detail = string_at(w, lane, expression[lane]) };
        source_fill(&r, w, i, lane);
        report_error(&r);
        print_assertion(w, i, &r, lane);
        free((char *)r.detail);
    }
    grid_fail(w->block->grid, cudaErrorAssert);
}

void (*const print_functions[])(Warp *, const Insn *, u32 mask) = {
#define SYSTEM_FUNCTION(name, handler) handler,
#include "program/system_functions.def"
};
