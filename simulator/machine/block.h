// A block in its slot: the memory that the slot's blocks use one after another, their warps' turns
// and their barriers.
#pragma once
#include "warp.h"

// A slot, with memory of a size that all blocks of the grid share. NULL: there is none left.
Block *block_make(Grid *grid, u32 slot);
void block_free(Block *block);

// Block `number` of the grid begins in the slot.
void block_start(Block *block, u32 number, u32 sm);

// Gives its warps turns. True: the block has ended. Else it has had its turn (Block.spins), or the
// grid has failed.
bool block_run(Block *block);
