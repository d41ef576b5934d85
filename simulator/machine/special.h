// The rows of a warp's registers that hold constants and special registers.
#pragma once
#include "block.h"
#include "grid.h"

// To be called when a grid begins.
void special_find(Grid *grid);

bool special_changes(u32 special); // does it differ from block to block?

// Fills them: all for fresh warps, later those that change from block to block.
void special_fill(Block *block, bool fresh);
