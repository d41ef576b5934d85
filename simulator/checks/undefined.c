// Uses of undefined values: of what nothing wrote. A load is no use, because compilers hoist loads
// and drop values that they do not need. So each register has a mark for each lane that holds such
// a value, and the marks propagate with the values. A report is made when a marked value decides a
// branch, an address, or whether something is stored. Memory to which a marked value is stored
// counts as not written; it is remembered as computed, to tell it from memory to which nothing was
// stored.
//
// Most warps never meet such a value. Marks are propagated (Warp.watch) only in those that do.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "isa/tensor.h"
#include "memory/memory.h"
#include "machine/access_pattern.h"
#include "machine/source_fill.h"
#include "base/need.h"
#include "slots.h"
#include "undefined.h"
#include "undefined_marks.h"

u8 undefined_padding[ALIGNMENTS];
UndefinedOrigin undefined_origin;

// What is known of the blocks that run in a slot, one after another.
struct DefinedBlock {
    u64 *shared_bits; // of its shared memory: a bit for each written byte; after those, a bit for
                      // each computed byte
    u64 *local_bits;  // of each thread's local memory in turn; the computed bytes follow likewise
    u64 shared_words, local_words, local_stride; // stride: bits of a thread, rounded up to words
    const Insn *origin;                          // the latest load of an undefined value
    bool computed;                               // and whether that value had been stored,
    bool of_blocks;                              // and other blocks may store there
    u32 waited; // warps that have given way to those who may be late to write
};

static struct DefinedBlock *defined_block(const Block *b) { return b->kept[BLOCK_UNDEFINED]; }

static void undefined_block_make(Block *b)
{
    struct DefinedBlock *d = b->kept[BLOCK_UNDEFINED] = need(calloc(1, sizeof *d));
    d->shared_words = b->shared_span / 64 + 1;
    d->local_stride = (b->grid->kernel->local_bytes + 63) / 64 * 64;
    d->local_words = d->local_stride / 64 * LANES * b->warp_count;
    d->shared_bits = need(malloc(2 * d->shared_words * sizeof *d->shared_bits));
    d->local_bits = need(malloc((2 * d->local_words + 1) * sizeof *d->local_bits));
}

static void undefined_block_free(Block *b)
{
    free(defined_block(b)->shared_bits);
    free(defined_block(b)->local_bits);
    free(defined_block(b));
}

static void undefined_block_start(Block *b)
{
    struct DefinedBlock *d = defined_block(b);
    // CUB and Thrust compare elements past the end of a tile and drop the outcome; they add what no
    // thread was given and subtract it again. In their kernels all memory counts as written until
    // an undefined value is stored to it.
    const int begin = kernel_is_nvidias(b->grid->kernel) ? 0xff : 0;
    d->waited = 0;
    memset(d->shared_bits, begin, d->shared_words * sizeof *d->shared_bits);
    memset(d->shared_bits + d->shared_words, 0, d->shared_words * sizeof *d->shared_bits);
    for (u32 at = b->reserved_at; at < b->shared_span; at++)
        d->shared_bits[at / 64] |= 1ull << at % 64; // the system's part
    memset(d->local_bits, begin, d->local_words * sizeof *d->local_bits);
    memset(d->local_bits + d->local_words, 0, d->local_words * sizeof *d->local_bits);
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        if (!w->watch) continue;
        w->watch = NULL;
        memset(w->taint, 0, b->grid->kernel->register_bytes / 64 * sizeof *w->taint);
    }
}

// The bitmap word that holds byte `at` of what a lane touches, and that byte's bit in it.
static inline u64 *word_of(const Access *a, u32 lane, u64 at, u32 *bit)
{
    const struct DefinedBlock *d =
        defined_block(a->space == SPACE_SHARED ? a->owner : a->warp->block);
    u64 byte = a->address[lane] + at, *bits;
    switch (a->space) {
    case SPACE_SHARED: bits = d->shared_bits; break;
    case SPACE_LOCAL:
        bits = d->local_bits;
        byte += (a->warp->number * LANES + lane) * d->local_stride;
        break;
    default: bits = memory_defined_bits; byte -= MEMORY_BASE;
    }
    *bit = byte % 64;
    return bits + byte / 64;
}

// The word that says of the same bytes whether they were computed from undefined values.
static inline u64 *computed_word(const Access *a, u64 *word)
{
    const struct DefinedBlock *d = defined_block(a->warp->block);
    switch (a->space) {
    case SPACE_SHARED: return word + defined_block(a->owner)->shared_words;
    case SPACE_LOCAL: return word + d->local_words;
    default: return memory_computed_bits + (word - memory_defined_bits);
    }
}

static inline u64 ones(u32 n) { return n > 63 ? ~0ull : (1ull << n) - 1; }

// The lanes none of whose `bytes` from byte `at` on were written. Accesses are aligned, so they
// cross no word. A partly written value counts as written, because structures have padding.
static u32 lanes_undefined(const Access *a, u64 at, u32 bytes)
{
    u32 lanes = 0, bit;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u64 word = *word_of(a, l, at, &bit);
        lanes |= (u32)(!(word >> bit & ones(bytes))) << l;
    }
    return lanes;
}

static bool is_written(const u64 *word, u32 bit, u64 bytes)
{
    for (u64 n; bytes; word++, bit = 0, bytes -= n) {
        n = 64 - bit < bytes ? 64 - bit : bytes;
        u64 wanted = ones(n) << bit;
        if ((__atomic_load_n(word, __ATOMIC_RELAXED) & wanted) != wanted) return false;
    }
    return true;
}

// The common case: every byte that the access reads was written.
static bool all_defined(const Access *a)
{
    u32 bit;
    if (a->space == SPACE_LOCAL) return false;
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        const u64 *word = word_of(a, __builtin_ctz(s->lanes), 0, &bit);
        if (!is_written(word, bit, s->bytes)) return false;
    }
    return true;
}

// ---- What need not be looked at again ----
// While no warp of the launch holds an undefined value, written memory stays written. So a chunk
// that is completely written needs no further checks.

enum { CHUNK = 256 << 10, CHUNKS = 1024, BESIDE = 16 };
static _Thread_local struct {
    u64 number, from, to;
} chunks[CHUNKS];                     // `from` to `to` is written,
static _Thread_local u32 chunks_turn; // as of that turn of the grid
static u32 turn;

static void undefined_grid_turn(Grid *g) { (void)g, turn++; }

static void undefined_grid_start(Grid *g)
{
    for (u32 n = 0; n < ALIGNMENTS; n++)
        if (g->kernel->padding[n] > undefined_padding[n])
            undefined_padding[n] = g->kernel->padding[n];
}

// GRID_UNDEFINED is set when some warp of the grid holds a value that nothing wrote.
static bool watching(const Access *a) { return a->warp->block->grid->kept[GRID_UNDEFINED]; }

// Sets the access's pass to its chunk, if that is completely written, and to a few neighbouring
// chunks that are known to be.
static void pass_chunk(Access *a)
{
    u64 address = a->address[a->first], number = address / CHUNK, low = address, high = address;
    u32 place = number % CHUNKS;
    if (watching(a) || a->space != SPACE_GLOBAL) return;
    if (chunks_turn != turn) memset(chunks, 0, sizeof chunks), chunks_turn = turn;
    if (chunks[place].number != number) {
        const Allocation *in = memory_find(address);
        u64 from = number * CHUNK, to = from + CHUNK;
        if (!in || in->kind == MEMORY_HEAP) return;
        if (from < in->base) from = in->base;
        if (to > in->base + in->size) to = in->base + in->size;
        if (memory_undefined(from, to - from) < to - from) to = from;
        chunks[place].number = number, chunks[place].from = from, chunks[place].to = to;
    }
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        if (s->address < low) low = s->address;
        if (s->address + s->bytes > high) high = s->address + s->bytes;
    }
    u64 from = chunks[place].from, to = chunks[place].to;
    if (low < from || high > to) return;
    for (u64 n = number - 1; number - n <= BESIDE && chunks[n % CHUNKS].to == from; n--)
        from = chunks[n % CHUNKS].from;
    for (u64 n = number + 1; n - number <= BESIDE && chunks[n % CHUNKS].from == to; n++)
        to = chunks[n % CHUNKS].to;
    a->pass_from = from + (address - low);
    a->pass_to = to - (high - address) + 1;
}

// May several threads change bits of one word at the same time?
static bool many_change(const Access *a) { return a->space == SPACE_GLOBAL && a->grid->shard; }

static inline void set_bits(u64 *word, u64 bits, bool many)
{
    if (!many) *word |= bits;
    else if (bits & ~__atomic_load_n(word, __ATOMIC_RELAXED))
        __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

static inline void clear_bits(u64 *word, u64 bits, bool many)
{
    if (!many) *word &= ~bits;
    else __atomic_fetch_and(word, ~bits, __ATOMIC_RELAXED);
}

static void define_span(u64 *word, u32 bit, u64 bytes, bool many)
{
    for (u64 n; bytes; word++, bit = 0, bytes -= n) {
        n = 64 - bit < bytes ? 64 - bit : bytes;
        set_bits(word, ones(n) << bit, many);
    }
}

// Marks part of what a lane stores as defined, or as computed from undefined values.
static inline void define_bits(const Access *a, u64 *word, u64 bits, bool defined, bool many)
{
    if (defined) {
        set_bits(word, bits, many);
    } else {
        clear_bits(word, bits, many);
        set_bits(computed_word(a, word), bits, many);
    }
}

// Managed and pinned memory counts as written, because the host may write it unobserved at any
// time.
static bool is_shared(const Access *a, u32 lane)
{
    return a->space == SPACE_GLOBAL && a->address[lane] >= MEMORY_SHARED;
}

// An asynchronous copy: undefined bytes of the source make the destination undefined.
static void store_copy(const Access *a)
{
    u32 bit;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        for (u32 n = 0; n < a->bytes; n += VALUE_BYTES) {
            u64 *word = word_of(a, l, n, &bit),
                undefined = (u64)a->undefined[l + n / VALUE_BYTES] << bit;
            *word =
                (*word | ones(a->bytes < VALUE_BYTES ? a->bytes : VALUE_BYTES) << bit) & ~undefined;
        }
    }
}

// The lane, and the half of its register, in which a transposed tile has half h of lane l's word
// (machine/tensor.c).
static u32 transposed_lane(u32 l, u32 h) { return (l % 4 * 2 + h) * 4 + l / 4 / 2; }

static void store_tile(const Access *a)
{
    u32 bit, marks = *mark(a->warp, *a->vector);
    for (u32 l = 0; l < LANES; l++)
        for (u32 h = 0; h < 2; h++) {
            u64 *word = word_of(a, l, 2 * h, &bit);
            bool marked = marks >> (a->trans ? transposed_lane(l, h) : l) & 1;
            define_bits(a, word, ones(2) << bit, !marked || is_shared(a, l), many_change(a));
        }
}

// Records which load the stored undefined bytes came from, unless an earlier store is recorded.
static void note_taint(const Access *a)
{
    const struct DefinedBlock *d = defined_block(a->warp->block);
    const Kernel *k = a->warp->block->grid->kernel;
    if (!d->origin) return;
    bool shuffled = isa_rows[d->origin->row].shape == EXCHANGE;
    if (!shuffled && d->computed) return;
    Place place = source_place(k, d->origin - k->code);
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    UndefinedOrigin *t = &undefined_origin;
    const char *file = place.file ? names_base(place.file) : "";
    t->several |= t->line && (t->line != place.line || strcmp(t->file, file));
    t->shuffled = shuffled;
    t->line = place.file ? place.line : 0;
    snprintf(t->file, sizeof t->file, "%s", file);
    pthread_mutex_unlock(&lock);
}

static void store(Access *a)
{
    u32 bit;
    shard_save_before(a);
    if (a->undefined) {
        store_copy(a);
        return;
    }
    if (a->mbarrier || (!a->warp->watch && a->space != SPACE_LOCAL)) {
        for (const Span *s = a->span; s < a->span + a->span_count; s++) {
            u64 *word = word_of(a, __builtin_ctz(s->lanes), 0, &bit);
            define_span(word, bit, s->bytes, many_change(a));
        }
        return;
    }
    if (a->values) {
        store_tile(a);
        return;
    }
    for (u32 e = 0; e < a->elements; e++) {
        u32 tainted = a->warp->watch ? *mark(a->warp, a->vector[e]) & a->mask : 0;
        if (tainted) note_taint(a);
        for (u32 l = 0; l < LANES; l++) {
            if (!(a->mask >> l & 1)) continue;
            u64 *word = word_of(a, l, e * a->width, &bit);
            define_bits(a, word, ones(a->width) << bit, !(tainted >> l & 1) || is_shared(a, l),
                        many_change(a));
        }
    }
}

// Is what was read early, because the warp runs ahead of others, written late? The race is found if
// the writer comes before this use, which may end the kernel.
static bool waits_for_writers(Warp *w)
{
    struct DefinedBlock *d = defined_block(w->block);
    if (!d->origin || d->waited >> w->number & 1) return false;
    d->waited |= 1u << w->number;
    warp_give_way(w, d->of_blocks);
    return true;
}

static void report_use(const Warp *w, const Insn *i, u32 lanes, enum report_use use)
{
    const Insn *origin = defined_block(w->block)->origin;
    bool shuffled = origin && isa_rows[origin->row].shape == EXCHANGE;
    bool computed = origin && defined_block(w->block)->computed;
    Report r = { .cause = shuffled ? CAUSE_use_of_shuffled
                        : computed ? CAUSE_use_of_computed
                                   : CAUSE_use_of_unwritten,
                 .use = use };
    source_fill(&r, w, i, __builtin_ctz(lanes));
    r.threads = __builtin_popcount(lanes);
    if (origin) {
        r.has_other = true;
        r.other.place = source_place(w->block->grid->kernel, origin - w->block->grid->kernel->code);
        memcpy(r.other.thread, r.thread, sizeof r.other.thread);
    }
    report_error(&r);
}

static void start_watching(Warp *w);
static void note_origin(const Access *a, u32 lanes, u64 at);

// An exchange stores a value and returns the old one, which is no use yet. Of lanes with one
// address the lowest receives it.
static void exchange(const Access *a, u32 lanes)
{
    if (a->insn->reduces) return;
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        u32 first = __builtin_ctz(rest);
        for (u32 l = first + 1; l < LANES; l++)
            if (a->address[l] == a->address[first]) lanes &= ~(1u << l);
    }
    start_watching(a->warp);
    note_origin(a, lanes, 0);
    *mark(a->warp, a->insn->d) |= lanes;
}

static void before_atomic(const Access *a)
{
    u32 lanes = lanes_undefined(a, 0, a->bytes);
    if (!lanes) return;
    if (a->insn->op == ISA_atom_exch) exchange(a, lanes);
    else
        defined_block(a->warp->block)->origin = NULL,
        report_use(a->warp, a->insn, lanes, USE_ATOMIC);
}

static bool undefined_access(Access *a)
{
    if (a->atomic && !a->mbarrier) before_atomic(a);
    if (!a->store) access_pass_all(a);
    else if (!watching(a)) store(a), pass_chunk(a);
    else store(a);
    return true;
}

static void use(Warp *w, const Insn *i, u32 lanes, enum report_use use)
{
    if (!waits_for_writers(w)) report_use(w, i, lanes, use);
}

static void watch_matrix(Warp *w, const Insn *i, u32 mask, u32 guard)
{
    const IsaRow *row = &isa_rows[i->row];
    bool copies = i->op == ISA_copy || i->op == ISA_bulk, stores = copies || row->store;
    u32 rows =
        row->m == 8 && row->n == 8 ? 8 * row->k : LANES; // ldmatrix: the lanes whose address counts
    u32 addresses = i->a || copies
                      ? (*mark(w, i->a) | (copies ? *mark(w, i->b) | *mark(w, i->c) : 0)) & mask
                            & ~0u >> (LANES - rows)
                      : 0;
    if (i->op == ISA_multiply) marks_multiply(w, i);
    else if (i->op == ISA_rows_transpose) *mark(w, i->list[0]) = *mark(w, i->list[1]) ? ~0u : 0;
    else if (addresses) use(w, i, addresses, USE_ADDRESS);
    else if (guard && stores) use(w, i, guard, USE_STORE);
}

// Propagates the marks through one instruction.
static void watch(Warp *w, const Insn *i, u32 mask)
{
    const IsaRow *row = &isa_rows[i->row];
    u32 guard = i->guard ? *mark(w, i->guard) & w->active : 0, marks;
    switch (row->shape) {
    case MEMORY:
        if (i->space == SPACE_CALL) marks_param(w, i, mask, row->store);
        else if (i->space == SPACE_PARAM)
            for (u32 e = 0; e < i->elements; e++) *mark(w, i->vector[e]) &= ~mask;
        else if (*mark(w, i->a) & mask) use(w, i, *mark(w, i->a) & mask, USE_ADDRESS);
        else if (guard && row->store) use(w, i, guard, USE_STORE);
        return;
    case FENCE: return;
    case FLOW:
        if (i->strong && (*mark(w, i->a) | *mark(w, i->b)) & mask)
            use(w, i, (*mark(w, i->a) | *mark(w, i->b)) & mask, USE_MBARRIER);
        if (guard && i->op == ISA_bra) use(w, i, guard, USE_BRANCH);
        if (i->list && *mark(w, i->a) & mask) use(w, i, *mark(w, i->a) & mask, USE_BRANCH);
        if (i->d) *mark(w, i->d) &= ~mask;
        return;
    case ATOMIC:
        if (*mark(w, i->a) & mask) use(w, i, *mark(w, i->a) & mask, USE_ADDRESS);
        *mark(w, i->d) &= ~mask;
        for (u32 e = 0; i->list && e < i->elements; e++) *mark(w, i->list[e]) &= ~mask;
        return;
    case EXCHANGE:
        if (i->predicate) *mark(w, i->predicate) &= ~mask;
        if (i->op == ISA_shfl) return; // undefined_shuffled() sees which lane got which value
        marks = *mark(w, i->a) & mask ? mask : 0; // one mark affects the results of all lanes
        break;
    case COMPARE:
    case COMPARE_2: marks_compare(w, i, mask, guard); return;
    case MATRIX: watch_matrix(w, i, mask, guard); return;
    case PACK_4:
    case UNPACK_4: marks_four(w, i, mask, guard, row->shape == PACK_4); return;
    case SELECT: marks = marks_of_select(w, i); break;
    case LOGIC: marks = marks_of_logic(w, i, row); break;
    default:
        marks = i->bit_field ? 0 : *mark(w, i->a); // part of the value is written now
        if (row->inputs > 1) marks |= *mark(w, i->b);
        if (row->inputs > 2) marks |= *mark(w, i->c);
        if (row->shape == INSERT) marks |= *mark(w, i->vector[0]);
        if (row->takes) marks |= *mark(w, i->predicate);
        if (row->shape == TABLE && i->predicate) *mark(w, i->predicate) &= ~mask;
        if (row->keeps)
            *mark(w, i->predicate) = (*mark(w, i->predicate) & ~mask) | (marks & mask) | guard;
    }
    u32 *d = mark(w, i->d);
    *d = (*d & ~mask) | (marks & mask) | guard;
    if (row->shape == UNPACK) *mark(w, i->b) = (*mark(w, i->b) & ~mask) | (marks & mask) | guard;
}

static void start_watching(Warp *w)
{
    Grid *g = w->block->grid;
    if (g->shard) shard_abort(g);
    w->watch = watch;
    if (!g->kept[GRID_UNDEFINED]) access_pattern_reset_passes(g);
    g->kept[GRID_UNDEFINED] = g;
}

static void undefined_shuffled(Warp *w, const Insn *i, u32 here, const u8 *from)
{
    if (!from) return; // watch() has propagated the marks
    u32 source = w->watch ? *mark(w, i->a) : 0, marks = 0;
    for (u32 l = 0; l < LANES; l++)
        if (here >> l & 1 && (source >> from[l] & 1 || !(here >> from[l] & 1))) marks |= 1u << l;
    if (marks & ~source || (marks && !w->watch)) defined_block(w->block)->origin = i;
    if (marks) start_watching(w);
    if (w->watch) *mark(w, i->d) = (*mark(w, i->d) & ~here) | marks;
}

static void note_origin(const Access *a, u32 lanes, u64 at)
{
    u32 bit;
    u64 *word = word_of(a, __builtin_ctz(lanes), at, &bit);
    struct DefinedBlock *d = defined_block(a->warp->block);
    d->origin = a->insn;
    d->computed = *computed_word(a, word) >> bit & 1;
    d->of_blocks = a->space == SPACE_GLOBAL || a->owner != a->warp->block;
}

// The lanes that load an undefined value into a register that holds bytes `at` on. Of a matrix each
// element counts.
static u32 lanes_given(const Access *a, u32 at)
{
    if (!a->element_bytes) return lanes_undefined(a, at, a->width);
    u32 lanes = 0;
    for (u32 n = 0; n < a->width; n += a->element_bytes) {
        u32 here = lanes_undefined(a, at + n, a->element_bytes);
        if (!a->trans) lanes |= here;
        else
            for (; here; here &= here - 1)
                lanes |= 1u << transposed_lane(__builtin_ctz(here), n / 2);
    }
    return lanes;
}

// An asynchronous copy has no register to mark.
static void note_undefined(const Access *a)
{
    for (u32 n = 0; n < a->bytes; n++)
        for (u32 lanes = lanes_undefined(a, n, 1); lanes; lanes &= lanes - 1)
            a->undefined[(u32)__builtin_ctz(lanes) + n / VALUE_BYTES] |= 1u << n % VALUE_BYTES;
}

static void undefined_loaded(Access *a)
{
    Warp *w = a->warp;
    bool defined = all_defined(a);
    if (a->undefined) {
        if (defined) pass_chunk(a);
        else note_undefined(a);
        return;
    }
    if (!w->watch && defined) {
        pass_chunk(a);
        return;
    }
    for (u32 e = 0; e < a->elements; e++) {
        u32 lanes = defined ? 0 : lanes_given(a, e * a->width), kept = a->adds ? ~0u : ~a->mask;
        if (lanes) start_watching(w), note_origin(a, lanes, e * a->width);
        if (w->watch) *mark(w, a->vector[e]) = (*mark(w, a->vector[e]) & kept) | lanes;
    }
}

const Observer undefined_observer = {
    .grid_start = undefined_grid_start,
    .grid_turn = undefined_grid_turn,
    .block_make = undefined_block_make,
    .block_free = undefined_block_free,
    .block_start = undefined_block_start,
    .shard_rollback = undefined_grid_turn,
    .access = undefined_access,
    .shuffled = undefined_shuffled,
    .loaded = undefined_loaded,
};
