// The order in which blocks begin, and in which they and their warps take turns: by their numbers,
// each as long as it gets on; or, under --shuffle, as a seed says.
#pragma once
#include "grid.h"
#include "warp.h"

// Of a launch that begins: whether it is shuffled, and how. There is room for fewer blocks than it
// has then.
void shuffle_start(Grid *grid);

// The number of the n-th block that begins.
u64 shuffle_block(const Grid *grid, u64 n);

// Of a shuffled grid. Does a block begin now, though those that are resident can go on? Which of
// these has the next turn?
bool shuffle_begins(Grid *grid);
bool shuffle_slows(Grid *grid); // the block that does so?
u32 shuffle_turn(Grid *grid);

// Of a shuffled grid: the order in which the warps of a block have their turns this time; and is
// the block's turn over?
void shuffle_warps(Grid *grid, u8 *order, u32 count);
bool shuffle_ends(Grid *grid);

// Of a shuffled grid: is the warp's turn over behind this instruction, which others may have seen,
// or which has seen them?
bool shuffle_preempts(Warp *warp, const Insn *insn);
