// Finds out whether spinning warps can ever make progress, and lists where the warps of a
// deadlocked grid wait.
#pragma once
#include "report/report.h"
#include "block.h"
#include "grid.h"

// The warp has had a turn in which it read what others may change, and changed nothing itself. Did
// it read the same the turn before? Then it spins, and its next turn is shorter.
bool deadlock_warp_spins(Warp *warp);

// Do all warps of the resident blocks wait for others, as far as is known? To be asked when each
// has had a turn.
bool deadlock_all_wait(const Grid *grid);

// Can no order of turns ever make progress? May advance the clocks. `alone`: the host does not
// change what the warps read either.
bool deadlock_is_certain(Grid *grid, bool alone);

// Reports that the grid is deadlocked and that nothing else can help it, and ends it. `cause`: why
// `kernel` waits for its end, or CAUSE_NONE. `devices`: devices with deadlocked kernels that touch
// one another's memory; 0: no such devices.
void deadlock_report(Grid *grid, enum report_cause cause, const char *kernel, u32 devices);

// A text with one line for each place where warps wait: those of a block, or, with NULL, of all
// resident blocks. The caller frees it.
char *deadlock_list_warps(const Grid *grid, const Block *only);
