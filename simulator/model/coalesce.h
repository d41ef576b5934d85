// How the lanes of one memory instruction share what memory moves at a time.
#pragma once
#include "async_copy.h"
#include "machine/observer.h"
#include "machine/access_pattern.h"

enum {
    LINE_BYTES = 128,
    LINE_SECTORS = LINE_BYTES / SECTOR_BYTES,
    WORD_BYTES = 4,
    LINE_WORDS = LINE_BYTES / WORD_BYTES
};
enum { MOST_PIECES = 128 }; // of one access: 32 lanes, each with four words of local memory

typedef struct Piece { // what an access touches of one line of the caches
    u64 line;          // address / LINE_BYTES; local memory: of the block's own
    u32 sectors;       // a bit for each
    u32 words;         // those of 4 bytes of which it touches some, a bit for each
    u32 passes; // over those: one for each; in an atomic one for each lane that wants the same word
} Piece;

// The lines of an access to global or local memory, in the order of its lanes. Returns how many
// they are.
u32 access_pieces(Access *a, Piece pieces[MOST_PIECES]);

// __constant__ memory has a cache of its own, beside L1.
static inline bool access_is_constant(const Access *a) { return a->insn->row == ROW_ld_const; }

// Nor does any memory see what PTX keeps in local memory and ptxas in registers.
static inline bool access_is_in_registers(const Access *a)
{
    return a->space == SPACE_LOCAL && a->warp->block->grid->kernel->local_in_registers;
}

// Loads that L1 does not keep: .cg, .cv, and strong ones of more than a block.
bool coalesce_past_l1(const Insn *i);

// What is remembered of its lines, for an access to global memory whose lanes share none; NULL:
// nothing.
static inline const struct PatternLines *access_lines(const Access *a)
{
    return a->pattern && a->space == SPACE_GLOBAL && !a->atomic && !access_is_async_past_l1(a)
             ? access_pattern_lines(a->pattern, a->base)
             : NULL;
}

// 32-byte sectors that an access touches, as often as it passes over them.
u32 access_sectors(Access *a);

// What the GPU's code does with an instruction's access to shared memory: as one with others, if
// that is aligned.
typedef struct Wide {
    u8 bytes, offset; // of all of them, and where this one's lie in that; 0: it stays alone
    bool leads;       // the first of them, at which they all happen
} Wide;

// Passes over the banks that an access to shared memory takes, and how many of them conflicts cost;
// none if it happens with another one.
u32 access_wavefronts(Access *a, Wide wide, u32 *conflicts);
