// The pattern of a memory access: what its lanes want, from the address of the lowest of them on.
// An instruction mostly has the pattern that it had before, which one comparison tells; only a new
// one is worked out lane by lane.
#pragma once
#include "observer.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

enum { MOST_OBSERVERS = 10, FEW_LINES = 4, FEW_MOVES = 4, LINE_PHASES = 32, PHASE_BYTES = 128 };

typedef struct Pass {
    u64 from, span;
} Pass;

// Where all observers but the `rest`, a bit for each, need not see an access.
typedef struct CommonPass {
    Pass pass;
    u32 rest;
} CommonPass;

// A span that is copied whole, or, of a load, all of whose lanes read one value; the sizes that are
// common have loops of their own.
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
    s64 from;  // of the access's lowest lane's address on
    u16 to;    // in the register's row
    u16 bytes; // of memory
    u8 lanes;
    u8 how; // enum move
} Move;

typedef struct AccessPattern {
    u32 mask;  // 0: nothing is remembered
    u32 first; // as in Access
    bool regular;
    s64 stride;
    _Alignas(64)
        u64 offset[LANES]; // of each lane's address from the first's; lanes that take no part too
    _Alignas(64) u32 narrow[LANES]; // their lower halves
    u32 span_count;
    Span span[LANES];                                    // addresses from the first's on
    Pass access[MOST_OBSERVERS], loaded[MOST_OBSERVERS]; // what each observer promised
    CommonPass common_access, common_loaded;             // what follows from that
    Pass noted;   // shard.c need not see loads from there again
    Pass settled; // lsu.c: in there an access is nothing but its moves, at which none but
                  // `line_observers` look, a bit for each
    u32 line_observers;
    u32 move_count; // 0: it cannot be put so
    Move move[FEW_MOVES];
    struct {
        u32 phase, wavefronts, conflicts;
    } banks;                    // coalesce.c: for this address % BANK_BYTES + 1
    u8 line_phase[LINE_PHASES]; // of each of the following: this address % PHASE_BYTES + 1
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

// The lines of an access from that address on, where they are remembered (coalesce.c); else NULL.
static inline const struct PatternLines *access_pattern_lines(const AccessPattern *s, u64 address)
{
    u32 phase = address % PHASE_BYTES, n = phase / 4 % LINE_PHASES;
    return s->line_phase[n] == phase + 1 ? &s->lines[n] : NULL;
}

// For each memory instruction of the kernel, with nothing remembered. NULL: no memory left.
AccessPattern *access_patterns_make(const Kernel *k);

// Fills in the pattern of `a` and remembers it.
void access_pattern_learn(Access *a, AccessPattern *s);

// What an access whose arrays are filled in comes to: so many moves, of a register of 4 bytes or
// more a lane; 0: it cannot be put so.
u32 access_moves(const Access *a, Move move[FEW_MOVES]);

// Takes back what observers promised in this launch.
void access_pattern_reset_passes(Grid *g);

// Forgets what observer `o` promised in this launch.
void access_pattern_reset_passes_of(Grid *g, const Observer *o);

typedef u64 Eight __attribute__((vector_size(64))); // of a row of addresses

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

// Has an access the pattern that is remembered? Lane l's address is base[l] + something.
static inline bool access_pattern_matches(const AccessPattern *s, u32 mask, const u64 *base)
{
    const Eight *row = (const Eight *)base, *remembered = (const Eight *)s->offset;
    const u64 first = base[s->first];
    Eight differs = { 0 };
    for (u32 n = 0; n < LANES / 8; n++) differs |= (row[n] - first) ^ remembered[n];
    return mask == s->mask && is_zero(differs);
}

// The same of addresses of 32 bits, as long as none of those remembered lies beyond 32 bits from
// there.
static inline bool access_pattern_matches_narrow(const AccessPattern *s, u32 mask, const u32 *base)
{
    typedef u32 Sixteen __attribute__((vector_size(64)));
    const Sixteen *row = (const Sixteen *)base, *remembered = (const Sixteen *)s->narrow;
    const u32 first = base[s->first];
    return mask == s->mask
        && is_zero(
               (Eight)(((row[0] - first) ^ remembered[0]) | ((row[1] - first) ^ remembered[1])));
}

// If so, fills in all but the arrays.
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

// The spans, filled in or not: their addresses are *from on.
static inline const Span *access_spans(const Access *a, u64 *from)
{
    *from = a->filled ? 0 : a->base;
    return a->filled ? a->span : a->pattern->span;
}
