// The pattern of a memory access: its lanes' addresses and spans relative to the lowest lane's
// address. Most executions of an instruction have the pattern of the execution before, which a few
// vector comparisons establish. Only a new pattern is analysed lane by lane.
#pragma once
#include "observer.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { MOST_OBSERVERS = 10, FEW_LINES = 4, FEW_MOVES = 4, LINE_PHASES = 32, PHASE_BYTES = 128 };

typedef struct Pass {
    u64 from, span;
} Pass;

// The pass that all observers gave in common, but those of `rest`, a bit for each.
typedef struct CommonPass {
    Pass pass;
    u32 rest;
} CommonPass;

// A copy of a whole span, or a load of one value by all lanes of a span. Common sizes have loops of
// their own.
enum move {
    COPY_64,
    COPY_128,
    COPY_256,
    COPY_ANY,
    FILL_4_16,
    FILL_4_32,
    FILL_8_16,
    FILL_8_32,
    FILL_ANY
};
typedef struct Move {
    s64 from;  // relative to the lowest lane's address
    u16 to;    // byte in the register row
    u16 bytes; // in memory
    u8 lanes;
    u8 how; // enum move
} Move;

typedef struct AccessPattern {
    u32 mask;  // 0: no pattern is remembered
    u32 first; // as in Access
    bool regular;
    s64 stride;
    _Alignas(64)
        u64 offset[LANES]; // of each lane's address from the lowest lane's, inactive lanes included
    _Alignas(64) u32 narrow[LANES]; // the lower halves of the offsets
    u32 span_count;
    Span span[LANES];                                    // addresses relative to the lowest lane's
    Pass access[MOST_OBSERVERS], loaded[MOST_OBSERVERS]; // each observer's pass
    CommonPass common_access, common_loaded;             // what follows from those
    Pass noted;                                          // where shard.c need not see loads again
    Pass
        settled; // where an access consists of its moves only, and is seen by `line_observers` only
    u32 line_observers;
    u32 move_count; // 0: the access is not expressible as moves
    Move move[FEW_MOVES];
    struct {
        u32 phase, wavefronts, conflicts;
    } banks;                    // of an observer: for accesses with this address % BANK_BYTES + 1
    u8 line_phase[LINE_PHASES]; // the address % PHASE_BYTES + 1 of each entry below
    struct PatternLines {
        u8 count, all, sectors[FEW_LINES];
        s32 line[FEW_LINES];
        u32 words[FEW_LINES];
    } lines[LINE_PHASES];
} AccessPattern;

static inline Pass pass_both(Pass a, Pass b)
{
    u64 from = a.from > b.from ? a.from : b.from, a_to = a.from + a.span, b_to = b.from + b.span,
        to = a_to < b_to ? a_to : b_to;
    return (Pass){ from, to > from ? to - from : 0 };
}

static inline bool lies_in(u64 address, const Pass *pass)
{
    return address - pass->from < pass->span;
}

// The lines of an access at that address, if an observer has noted them, or NULL.
static inline const struct PatternLines *access_pattern_lines(const AccessPattern *s, u64 address)
{
    u32 phase = address % PHASE_BYTES, n = phase / 4 % LINE_PHASES;
    return s->line_phase[n] == phase + 1 ? &s->lines[n] : NULL;
}

// An empty pattern for each memory instruction of the kernel. NULL: out of memory.
AccessPattern *access_patterns_make(const Kernel *k);

// Analyses the access and remembers its pattern.
void access_pattern_learn(Access *a, AccessPattern *s);

// Expresses an access whose arrays are filled in as moves of registers of at least 4 bytes a lane.
// 0: that is not possible.
u32 access_moves(const Access *a, Move move[FEW_MOVES]);

// Withdraws every observer's passes.
void access_pattern_reset_passes(Grid *g);

// Withdraws the passes of one observer.
void access_pattern_reset_passes_of(Grid *g, const Observer *o);

typedef u64 Eight __attribute__((vector_size(64))); // eight addresses

static inline bool is_zero(Eight v)
{
#ifdef __AVX512F__
    return !_mm512_test_epi64_mask((__m512i)v, (__m512i)v);
#else
    u64 all = 0;
    for (u32 n = 0; n < 8; n++) all |= v[n];
    return !all;
#endif
}

// Does an access match the remembered pattern? Lane l's address is base[l] plus a constant.
static inline bool access_pattern_matches(const AccessPattern *s, u32 mask, const u64 *base)
{
    const Eight *row = (const Eight *)base, *remembered = (const Eight *)s->offset;
    const u64 first = base[s->first];
    Eight differs = { 0 };
    for (u32 n = 0; n < LANES / 8; n++) differs |= (row[n] - first) ^ remembered[n];
    return mask == s->mask && is_zero(differs);
}

// The same for 32-bit addresses, provided that no remembered offset exceeds 32 bits.
static inline bool access_pattern_matches_narrow(const AccessPattern *s, u32 mask, const u32 *base)
{
    typedef u32 Sixteen __attribute__((vector_size(64)));
    const Sixteen *row = (const Sixteen *)base, *remembered = (const Sixteen *)s->narrow;
    const u32 first = base[s->first];
    return mask == s->mask
        && is_zero(
               (Eight)(((row[0] - first) ^ remembered[0]) | ((row[1] - first) ^ remembered[1])));
}

// Fills in a matching access, except for its arrays.
static inline void access_pattern_recall(Access *a, AccessPattern *s, u64 base)
{
    a->first = s->first;
    a->base = base;
    a->sectors = 0;
    a->regular = s->regular;
    a->stride = s->stride;
    a->span_count = s->span_count;
    a->pattern = s;
    a->filled = false;
}

static inline void access_fill(Access *a)
{
    if (a->filled) return;
    const AccessPattern *s = a->pattern;
    for (u32 l = 0; l < LANES; l++) a->address[l] = a->base + s->offset[l];
    for (u32 n = 0; n < s->span_count; n++)
        a->span[n] = (Span){ .address = a->base + s->span[n].address,
                             .bytes = s->span[n].bytes,
                             .lanes = s->span[n].lanes };
    a->filled = true;
}

// The spans, whether filled in or not. Their addresses are relative to *from.
static inline const Span *access_spans(const Access *a, u64 *from)
{
    *from = a->filled ? 0 : a->base;
    return a->filled ? a->span : a->pattern->span;
}
