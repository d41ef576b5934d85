// Tells whether warps that spin can ever get on, and where the warps of a grid stand that cannot.
#pragma once
#include "report/report.h"
#include "warp.h"

// The warp has had a turn in which it read what others may change, and changed nothing. Did it read the same the turn
// before? Then it spins, and its next turn is a short one.
bool stand_spins(Warp *warp);

// Can no warp of the resident blocks go on, whatever turns they take? To be asked when all of
// them spin; it may put the clocks forward.
bool stand_is_over(Grid *grid);

// Reports that, and ends the grid.
void stand_report_deadlock(Grid *grid);

// Where the warps of a block, or with NULL of all resident ones, stand: a line of text for each place. The caller frees it.
char *stand_list(const Grid *grid, const Block *only);
