// The order in which blocks begin, and in which blocks and warps take turns: by number, each as
// long as it makes progress; or, under --shuffle, as a seed decides.
#pragma once
#include "grid.h"
#include "warp.h"

// Decides for a launch that begins whether it is shuffled, and how. It then has slots for fewer
// blocks than the launch has.
void shuffle_start(Grid *grid);

// The number of the n-th block to begin.
u64 shuffle_block(const Grid *grid, u64 n);

// For a shuffled grid: does a block begin now, although resident blocks can run? Which block runs
// next?
bool shuffle_begins(Grid *grid);
bool shuffle_slows(Grid *grid); // is the block that begins a slow one?
u32 shuffle_turn(Grid *grid);

// For a shuffled grid: the order in which the block's warps run this time; and does the block's
// turn end?
void shuffle_warps(Grid *grid, u8 *order, u32 count);
bool shuffle_ends(Grid *grid);

// For a shuffled grid: does the warp's turn end after this instruction, which others may have seen,
// or which has seen others?
bool shuffle_preempts(Warp *warp, const Insn *insn);

// For a shuffled grid: the lanes of a whole warp that fall behind the others before this
// instruction, which others may see, or which shows what others did. 0: none do.
u32 shuffle_parts(Warp *warp, const Insn *insn);
