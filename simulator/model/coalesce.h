// Coalescing: how the lanes of one memory instruction share lines, sectors and bank accesses.
#pragma once
#include "async_copy.h"
#include "machine/observer.h"
#include "machine/access_pattern.h"
#include "memory/memory.h"

enum {
    LINE_BYTES = 128,
    LINE_SECTORS = LINE_BYTES / SECTOR_BYTES,
    WORD_BYTES = 4,
    LINE_WORDS = LINE_BYTES / WORD_BYTES
};
enum { MOST_PIECES = 128 }; // of one access: 32 lanes, each with four words of local memory

typedef struct Piece { // the part of an access in one cache line
    u64 line;          // address / LINE_BYTES; in local memory numbered by block
    u32 sectors;       // a bit for each
    u32 words;         // the 4-byte words of which it touches some byte, a bit for each
    u32 passes; // over the sectors: one each; of an atomic one for each lane with the same word
} Piece;

// Splits an access to global or local memory into its lines, in the order of lanes. Returns their
// number.
u32 access_pieces(Access *a, Piece pieces[MOST_PIECES]);

// __constant__ memory has a cache of its own, beside L1.
static inline bool access_is_constant(const Access *a) { return a->insn->row == ROW_ld_const; }

// Memory of the host's, which no cache of the device holds. Observers see every access to it
// (machine/lsu.c).
static inline bool access_is_host_memory(const Access *a)
{
    return a->space == SPACE_GLOBAL && a->base >= MEMORY_PINNED;
}

// Local memory of the PTX that ptxas keeps in registers.
static inline bool access_is_in_registers(const Access *a)
{
    return a->space == SPACE_LOCAL && a->warp->block->grid->kernel->local_in_registers;
}

// Loads that bypass L1: .cg, .cv, and strong ones whose scope exceeds the block.
bool coalesce_past_l1(const Insn *i);

// The remembered lines of an access to global memory whose lanes share none, or NULL.
static inline const struct PatternLines *access_lines(const Access *a)
{
    return a->pattern && a->space == SPACE_GLOBAL && !a->atomic && !access_is_async_past_l1(a)
             ? access_pattern_lines(a->pattern, a->base)
             : NULL;
}

// The 32-byte sectors that an access touches, once for each pass.
u32 access_sectors(Access *a);

// Those that these of its lanes touch, at least one.
u32 access_sectors_of(Access *a, u32 lanes);

// Vectorisation by ptxas: it merges accesses to shared memory into a wider one, if that is aligned.
typedef struct Wide {
    u8 bytes,
        offset; // bytes of the wide access, and this access's place in it; 0: it is not merged
    bool leads; // the first of the merged accesses, at which the wide one happens
} Wide;

// The wavefronts of an access to shared memory, and those caused by bank conflicts. 0 if another
// access of the wide one stands for it.
u32 access_wavefronts(Access *a, Wide wide, u32 *conflicts);
