// Finds the spans of a memory access, and remembers them as its instruction's pattern.
#include <stdlib.h>
#include <string.h>

#include "access_pattern.h"

typedef s64 Signs __attribute__((vector_size(64))); // the result of a vector comparison: 0 or -1

// The lanes whose address is neither the previous lane's nor the next one after it. Vectorised,
// because every new access needs it.
static inline u32 find_breaks(const u64 address[LANES], u32 bytes)
{
    static const Signs one_on = { 7, 8, 9, 10, 11, 12, 13, 14 };
    Signs breaks = { 0 };
    Eight bit = { 1, 2, 4, 8, 16, 32, 64, 128 }, now, last = { 0 };
    for (u32 l = 0; l < LANES; l += 8, last = now) {
        memcpy(&now, address + l, sizeof now);
        Eight step = now - __builtin_shuffle(last, now, (Eight)one_on);
        breaks |= (step != 0) & (step != bytes) & (Signs)(bit << l);
    }
    u64 all = 1;
    for (u32 n = 0; n < 8; n++) all |= (u64)breaks[n];
    return (u32)all;
}

static void find_spans(Access *a)
{
    u32 starts = a->mask & (find_breaks(a->address, a->bytes) | ~(a->mask << 1));
    a->span_count = 0;
    while (starts) {
        u32 first = __builtin_ctz(starts);
        starts &= starts - 1;
        u32 lanes = a->mask & ~0u << first & (starts ? (starts & -starts) - 1 : ~0u);
        u32 last = 31 - __builtin_clz(lanes);
        u64 bytes = a->address[last] - a->address[first] + a->bytes;
        a->span[a->span_count++] =
            (Span){ .address = a->address[first], .bytes = (u32)bytes, .lanes = lanes };
    }
}

static bool find_stride(Access *a)
{
    u32 rest = a->mask & (a->mask - 1);
    u64 base = a->address[a->first];
    a->stride = 0;
    if (rest) {
        u32 second = __builtin_ctz(rest);
        a->stride = a->address[second] - base;
        if (second - a->first > 1) a->stride /= (s64)(second - a->first);
    }
    u64 origin = base - a->first * a->stride, differs = 0;
    for (u32 l = 0; l < LANES; l++)
        differs |= (a->address[l] ^ (origin + l * a->stride)) & -(u64)(a->mask >> l & 1);
    return !differs;
}

// A single span determines the stride. A few spans are the rows or columns of a block's tile, which
// have no common stride.
void access_analyse(Access *a)
{
    enum { FEW = 4 };
    a->sectors = 0;
    a->first = __builtin_ctz(a->mask);
    a->base = a->address[a->first];
    a->filled = true;
    find_spans(a);
    const Span *s = a->span;
    u32 count = __builtin_popcount(a->mask);
    if (a->span_count == 1 && (s->bytes == a->bytes || s->bytes == count * a->bytes)) {
        a->regular = true;
        a->stride = s->bytes == a->bytes ? 0 : a->bytes;
    } else {
        a->regular = (a->span_count > FEW || a->span_count == count) && find_stride(a);
    }
}

AccessPattern *access_patterns_make(const Kernel *k)
{
    AccessPattern *patterns =
        aligned_alloc(_Alignof(AccessPattern), (k->pattern_count + 1) * sizeof *patterns);
    for (u32 n = 0; patterns && n < k->pattern_count; n++) patterns[n].mask = patterns[n].first = 0;
    return patterns;
}

static enum move copying(u32 bytes)
{
    return bytes == 64 ? COPY_64 : bytes == 128 ? COPY_128 : bytes == 256 ? COPY_256 : COPY_ANY;
}

static enum move filling(u32 width, u32 lanes)
{
    if (lanes != LANES && lanes != LANES / 2) return FILL_ANY;
    return (width == 4 ? FILL_4_16 : FILL_8_16) + (lanes == LANES);
}

u32 access_moves(const Access *a, Move move[FEW_MOVES])
{
    const Insn *i = a->insn;
    if (a->atomic || a->span_count > FEW_MOVES || i->elements != 1 || i->width != i->register_width
        || i->width < 4 || a->space == SPACE_LOCAL)
        return 0;
    for (u32 n = 0; n < a->span_count; n++) {
        const Span *span = &a->span[n];
        u32 lanes = __builtin_popcount(span->lanes);
        bool whole = span->bytes == lanes * i->width,
             one = !a->store && span->bytes == i->width && i->width <= 8;
        if (!whole && !one) return 0;
        move[n] = (Move){ .from = (s64)(span->address - a->base),
                          .to = __builtin_ctz(span->lanes) * i->width,
                          .bytes = span->bytes,
                          .lanes = lanes,
                          .how = whole ? copying(span->bytes) : filling(i->width, lanes) };
    }
    return a->span_count;
}

void access_pattern_learn(Access *a, AccessPattern *s)
{
    access_analyse(a);
    s->move_count = access_moves(a, s->move);
    a->pattern = s;
    u64 first = a->base;
    s->mask = a->mask;
    s->first = a->first;
    s->regular = a->regular;
    s->stride = a->stride;
    for (u32 l = 0; l < LANES; l++) s->narrow[l] = (u32)(s->offset[l] = a->address[l] - first);
    memset(s->access, 0, sizeof s->access);
    memset(s->loaded, 0, sizeof s->loaded);
    s->common_access.pass.span = s->common_loaded.pass.span = s->noted.span = s->settled.span = 0;
    s->banks.phase = 0;
    memset(s->line_phase, 0, sizeof s->line_phase);
    s->span_count = a->span_count;
    for (u32 n = 0; n < a->span_count; n++) {
        s->span[n] = a->span[n];
        s->span[n].address -= first;
    }
}

void access_pattern_reset_passes(Grid *g)
{
    for (u32 n = 0; n < g->kernel->pattern_count; n++) {
        AccessPattern *s = &g->patterns[n];
        memset(s->access, 0, sizeof s->access);
        memset(s->loaded, 0, sizeof s->loaded);
        s->common_access.pass.span = s->common_loaded.pass.span = s->settled.span = 0;
    }
}

void access_pattern_reset_passes_of(Grid *g, const Observer *observer)
{
    u32 o = 0;
    while (observers[o] != observer) o++;
    for (u32 n = 0; n < g->kernel->pattern_count; n++) {
        AccessPattern *s = &g->patterns[n];
        s->access[o].span = s->loaded[o].span = 0;
        s->common_access.pass.span = s->common_loaded.pass.span = s->settled.span = 0;
    }
}
