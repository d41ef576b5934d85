// The register rows that hold constants and special registers.
#pragma once
#include "block.h"
#include "grid.h"

// To be called when a grid begins.
void special_find(Grid *grid);

bool special_changes(u32 special); // does it differ from block to block?

// Fills them in: all of them for fresh warps, later only those that differ from block to block.
void special_fill(Block *block, bool fresh);
