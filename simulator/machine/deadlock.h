// Tells whether warps that spin can ever get on, and where the warps of a grid stand that cannot.
#pragma once
#include "report/report.h"
#include "block.h"
#include "grid.h"

// The warp has had a turn in which it read what others may change, and changed nothing. Did it read
// the same the turn before? Then it spins, and its next turn is a short one.
bool deadlock_warp_spins(Warp *warp);

// Do all warps of the resident blocks wait for what others do, as far as they know? To be asked
// when each has had a turn.
bool deadlock_all_wait(const Grid *grid);

// Can none of them go on, whatever turns they take? It may put the clocks forward. `alone`: nor
// does the host change what they read.
bool deadlock_is_certain(Grid *grid, bool alone);

// Reports that, and ends the grid (grid.h).
void deadlock_report(Grid *grid, const char *behind, u32 devices);

// Where the warps of a block, or with NULL of all resident ones, stand: a line of text for each
// place. The caller frees it.
char *deadlock_list_warps(const Grid *grid, const Block *only);
