// A request is a warp instruction with an active lane. A sector is one of the 32-byte pieces of
// memory that its lanes touch together; a cache line has four. Local memory is laid out so that the
// same word of 32 lanes is one line (CUDA C++ Programming Guide, "Local Memory").
//
// Shared memory has 32 banks of 4 bytes. A wavefront reads one word of each bank, so lanes with
// different words of one bank need several wavefronts; those beyond what that many words need
// anyway are the bank conflicts. Accesses of 8 bytes a lane are made by half warps, those of 16
// bytes by quarters. Two quarters share their wavefronts, in loads, if each lane wants what its
// neighbour, or the lane after that, wants: ncu counts 2 wavefronts where all lanes load the same
// 16 bytes, or all lanes of a quarter do (bodies_tiled, lesson 15's version 4), and 4 where no two
// do (matmul_registers) or each quarter loads the same 128 bytes (version 4). Copies to shared
// memory have rules of their own (async_copy.c).
#include "coalesce.h"
#include <stdlib.h>
#include <string.h>

#include "async_copy.h"
#include "machine/atomic.h"

typedef struct Pieces {
    Piece *piece;
    u32 count;
    u64 highest;
} Pieces;

// Lines mostly come in ascending order; a line above all others is new.
static void add_piece(Pieces *p, u64 line, u32 sectors, u32 words)
{
    u32 n = p->count;
    if (n && line <= p->highest)
        while (n && p->piece[n - 1].line != line) n--;
    else n = 0;
    if (!n) {
        p->piece[p->count++] = (Piece){ .line = line };
        n = p->count;
        if (line > p->highest) p->highest = line;
    }
    p->piece[n - 1].sectors |= sectors;
    p->piece[n - 1].words |= words;
}

static u32 global_pieces(const Access *a, Piece *pieces)
{
    Pieces p = { .piece = pieces };
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        u64 first = s->address / WORD_BYTES, last = (s->address + s->bytes - 1) / WORD_BYTES;
        for (u64 line = first / LINE_WORDS; line <= last / LINE_WORDS; line++) {
            u32 low = line * LINE_WORDS < first ? first % LINE_WORDS : 0;
            u32 high = line * LINE_WORDS + LINE_WORDS > last ? last % LINE_WORDS : LINE_WORDS - 1,
                each = LINE_WORDS / LINE_SECTORS;
            add_piece(&p, line, (2u << high / each) - (1u << low / each),
                      (2u << high) - (1u << low));
        }
    }
    return p.count;
}

static u32 local_pieces(const Access *a, Piece *pieces)
{
    Pieces p = { .piece = pieces };
    u32 words = (a->bytes + 3) / 4;
    u64 base = (u64)a->warp->number * ((a->warp->block->grid->kernel->local_bytes + 3) / 4);
    for (u32 l = a->first; l < LANES; l++)
        for (u32 n = 0; a->mask >> l & 1 && n < words; n++)
            add_piece(&p, base + a->address[l] / 4 + n, 1u << l / 8, 1u << l);
    return p.count;
}

// L2 serves lanes with the same word one after another: the passes over a sector are the number of
// lanes with its most wanted word.
static void add_passes(const Access *a, Piece *pieces, u32 count)
{
    u32 mask = atomic_is_aggregated(a) ? a->mask & -a->mask : a->mask, wanted[LANES] = { 0 };
    for (u32 l = 0; l < LANES; l++)
        for (u32 k = 0; k <= l; k++)
            wanted[l] += mask >> k & mask >> l & (a->address[k] == a->address[l]);
    for (u32 n = 0; n < count; n++) {
        u32 most[LINE_SECTORS] = { 0 };
        pieces[n].passes = 0;
        for (u32 l = 0; l < LANES; l++) {
            u32 sector = a->address[l] / SECTOR_BYTES % LINE_SECTORS;
            if (a->address[l] / LINE_BYTES == pieces[n].line && wanted[l] > most[sector])
                most[sector] = wanted[l];
        }
        for (u32 s = 0; s < LINE_SECTORS; s++) pieces[n].passes += most[s];
    }
}

// Remembers the lines with the pattern, if they are few, for accesses whose first lane is at the
// same place in a line.
static u32 recalled_pieces(Access *a, Piece *pieces)
{
    AccessPattern *s = a->pattern;
    u64 line = a->base / LINE_BYTES;
    u32 phase = a->base % LINE_BYTES, place = phase / 4 % LINE_PHASES;
    if (!s) return global_pieces(a, pieces);
    struct PatternLines *kept = &s->lines[place];
    if (s->line_phase[place] == phase + 1) {
        for (u32 n = 0; n < kept->count; n++)
            pieces[n] = (Piece){ .line = line + kept->line[n],
                                 .sectors = kept->sectors[n],
                                 .words = kept->words[n] };
        return kept->count;
    }
    access_fill(a);
    u32 count = global_pieces(a, pieces);
    if (count > FEW_LINES) return count;
    *kept = (struct PatternLines){ .count = count };
    for (u32 n = 0; n < count; n++) {
        kept->line[n] = pieces[n].line - line;
        kept->sectors[n] = pieces[n].sectors;
        kept->words[n] = pieces[n].words;
        kept->all += __builtin_popcount(pieces[n].sectors);
        if (line + kept->line[n] != pieces[n].line) return count;
    }
    s->line_phase[place] = phase + 1;
    return count;
}

u32 access_pieces(Access *a, Piece pieces[MOST_PIECES])
{
    if (a->space == SPACE_LOCAL || a->atomic) access_fill(a);
    u32 count = a->space == SPACE_LOCAL ? local_pieces(a, pieces) : recalled_pieces(a, pieces);
    if (a->atomic && !a->bulk) add_passes(a, pieces, count);
    else
        for (u32 n = 0; n < count; n++) pieces[n].passes = __builtin_popcount(pieces[n].sectors);
    a->lines = count;
    a->sectors = 0;
    for (u32 n = 0; n < count; n++) a->sectors += pieces[n].passes;
    if (access_is_async_past_l1(a)) async_copy_count(a, &a->lines, &a->sectors);
    return count;
}

u32 access_sectors(Access *a)
{
    Piece pieces[MOST_PIECES];
    if (!a->sectors) access_pieces(a, pieces);
    return a->sectors;
}

u32 access_sectors_of(Access *a, u32 lanes)
{
    if (lanes == a->mask) return access_sectors(a);
    Access part = *a;
    part.pattern = NULL;
    part.mask = lanes;
    part.first = (u32)__builtin_ctz(lanes);
    part.sectors = 0;
    access_analyse(&part);
    return access_sectors(&part);
}

bool coalesce_past_l1(const Insn *i)
{
    return i->past_l1 || (i->matrix && i->matrix->past_l1) || (i->strong && i->scope != SCOPE_CTA);
}

// Does each lane add the constant 1 without using the result? The hardware counts such lanes
// (ATOMS.POPC.INC), all of one word at once.
static bool is_increment(const Access *a)
{
    const Kernel *k = a->warp->block->grid->kernel;
    if (!a->insn->reduces || a->insn->op != ISA_atom_add) return false;
    for (u32 n = 0; n < k->constant_count; n++)
        if (k->constants[n].row == a->insn->vector[0])
            return !k->constants[n].special && k->constants[n].value == 1;
    return false;
}

// Wavefronts for the lanes of a group, each with `words` words. Lanes with the same word share a
// wavefront, except in an atomic, where each lane needs the result of the one before. Addresses are
// `before` those of the access. *ideal: the wavefronts without conflicts.
static u32 count_passes(const Access *a, u32 lanes, u32 words, u32 before, bool apart, u32 *ideal)
{
    u32 wanted[BANKS][LANES], depth[BANKS] = { 0 }, most = 0, all = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        for (u32 n = 0; n < words; n++) {
            u32 word = (a->address[l] - before) / BANK_BYTES + n, bank = word % BANKS, k = 0;
            while (k < depth[bank] && (apart || wanted[bank][k] != word)) k++;
            if (k == depth[bank]) wanted[bank][depth[bank]++] = word, all++;
            if (depth[bank] > most) most = depth[bank];
        }
    }
    *ideal = (all + BANKS - 1) / BANKS;
    return most;
}

// Does each of these lanes want what its neighbour at that distance wants? A lane without an active
// neighbour does not matter. *pairs: the lanes that have one.
static bool is_paired(const Access *a, u32 from, u32 count, u32 apart, u32 *pairs)
{
    *pairs = 0;
    for (u32 l = from; l < from + count; l++) {
        if (!(a->mask >> l & a->mask >> (l ^ apart) & 1)) continue;
        if (a->address[l] != a->address[l ^ apart]) return false;
        ++*pairs;
    }
    return true;
}

// Lanes that share their wavefronts, from the first lane of a group on.
static u32 group_size(const Access *a, u32 bytes, u32 from)
{
    u32 size = bytes <= 4 ? LANES : bytes <= 8 ? LANES / 2 : LANES / 4, pairs;
    if (size == LANES || from % (2 * size) || a->store || a->atomic) return size;
    for (u32 apart = 1; apart <= 2; apart++)
        if (is_paired(a, from, 2 * size, apart, &pairs) && (pairs || bytes == 8)) return 2 * size;
    return size;
}

static u32 count_wavefronts(const Access *a, u32 bytes, u32 before, u32 *conflicts)
{
    bool apart = a->atomic && !is_increment(a), compares = a->insn->op == ISA_atom_cas;
    u32 words = bytes <= 4 ? 1 : bytes / 4, wavefronts = 0,
        mask = atomic_is_aggregated(a) ? a->mask & -a->mask : a->mask;
    for (u32 l = 0, size; l < LANES; l += size) {
        size = group_size(a, bytes, l);
        u32 lanes = mask & (u32)(((1ull << size) - 1) << l), ideal;
        u32 passes = count_passes(a, lanes, words, before, apart, &ideal);
        wavefronts += compares ? 2 * passes : passes;
        *conflicts += passes - ideal;
    }
    return wavefronts;
}

static bool is_aligned(const Access *a, Wide wide)
{
    u64 bits = 0;
    for (u32 l = a->first; l < LANES; l++)
        if (a->mask >> l & 1) bits |= a->address[l] - wide.offset;
    return bits % wide.bytes == 0;
}

static u32 count_as(const Access *a, Wide wide, u32 *conflicts)
{
    *conflicts = 0;
    if (!wide.bytes || !is_aligned(a, wide)) return count_wavefronts(a, a->bytes, 0, conflicts);
    return wide.leads ? count_wavefronts(a, wide.bytes, wide.offset, conflicts) : 0;
}

// Shifting all lanes by whole words rotates the banks and changes nothing else; shifting by 16
// bytes keeps alignment.
u32 access_wavefronts(Access *a, Wide wide, u32 *conflicts)
{
    AccessPattern *s = a->pattern;
    u32 phase = a->base % (wide.bytes ? 16 : BANK_BYTES) + 1;
    if (a->insn->op == ISA_copy) return async_copy_wavefronts(a, conflicts);
    if (!s || s->banks.phase != phase) access_fill(a);
    if (!s) return count_as(a, wide, conflicts);
    if (s->banks.phase != phase) {
        s->banks.wavefronts = count_as(a, wide, &s->banks.conflicts);
        s->banks.phase = phase;
    }
    *conflicts = s->banks.conflicts;
    return s->banks.wavefronts;
}
