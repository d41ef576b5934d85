// One decoded instruction, as the executor runs it and observers look at it.
#pragma once
#include "isa/isa.h"

typedef struct Insn Insn;
typedef struct Warp Warp;

// Operands are offsets of rows in the warp's register file. A constant has a row too.
struct Insn {
    void (*run)(Warp *warp, const Insn *insn, u32 mask);
    u32 d, a, b, c;
    u32 guard;      // row of the predicate before it, 0: none
    u32 guard_flip; // ~0 for @!p
    bool moves; // its handler may change the warp's path; all others leave Warp.pc and Warp.active
                // alone
    bool plain; // nor does its handler read them, touch memory, or fail
    bool observable; // observers may be notified of it other than as a memory access, or it may end
                     // the kernel
    u32 target; // of a branch: an instruction; of a call: a function; a clock; of call parameters:
                // bytes a lane
    u32 location;      // index into the kernel's locations
    u32 pattern;       // memory: number of its access pattern
    u32 invariant;     // its number among the block-invariant instructions (invariant.h); 0: not
                       // invariant
    u32 invariant_run; // length of the run of invariant instructions that begins here, with no
                       // branch into it
    u32 vector[4];     // memory: rows of the registers loaded or stored
    const u32 *list; // atomics of vectors: rows of d's elements and then of b's; brx: instructions;
                     // matrices: rows of d, a, b and c's registers; else NULL
    const struct Matrix *matrix; // of a MATRIX row (isa/tensor.h)
    s64 offset;                  // memory: added to the address
    u16 row;                     // enum row
    u16 op;                      // enum op: its row's, or one that is DECODED (isa/ops.def)
    u8 elements;                 // memory: 1, 2 or 4 registers
    u8 width;                    // memory: bytes of each in memory
    u8 space;                    // memory: enum space
    u8 register_width;           // memory, convert: bytes of the register
    u8 source_width;             // convert: bytes of the source register
    bool is_signed;              // memory: extend the sign
    bool strong; // memory: .volatile, .relaxed, .acquire, .release, and atomics: any order but weak
    bool past_l1;     // loads: .cg and .cv, which L1 does not keep
    u8 order;         // memory, atomics, fences: enum order
    u8 scope;         // of that order: enum scope
    bool reduces;     // atomic: d is not read
    u8 aggregation;   // atomic: enum aggregation
    bool may_diverge; // branch: its lanes may diverge
    bool bit_field;   // or: merges bits of b into a word of memory, whose other bits a holds
    bool cluster;     // memory: shared memory of all blocks of the cluster
    u32 predicate;    // exchange, compare: row of q, 0: none; carry: row of the carry
    u32 members;      // exchange: row of the participating lanes
    u32 flip;         // exchange: ~0 for !a; compare: for !c
    u8 combine;       // compare: enum combine; c: the predicate that is combined with it
    bool as_number;   // compare (`set`): vector[0] receives the number `offset` or 0
};

// How the lanes of an atomic with one address reach memory: each by itself; aggregated into one
// operation if the whole warp is active; always aggregated.
enum aggregation { AGGREGATE_NONE, AGGREGATE_FULL_WARP, AGGREGATE_ALWAYS };

static inline const IsaRow *insn_row(const Insn *i) { return &isa_rows[i->row]; }

// Do the lanes that run it end, or return from their function?
static inline bool insn_ends(const Insn *i) { return i->op == ISA_ret || i->op == ISA_exit; }
static inline bool insn_jumps(const Insn *i) { return i->op == ISA_bra && !i->guard; }
