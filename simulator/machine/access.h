// The load/store unit's functions for instructions that make several accesses (lsu.c).
#pragma once
#include "observer.h"

// Shows an access to the observers. Its warp, insn, mask, space, direction, bytes and addresses are
// filled in, and its owner if that is another block. `pattern`: the instruction's, or NULL. False:
// the access must not happen.
bool access_allow(Access *a, struct AccessPattern *pattern);

// A load has put its values into the registers; lane l's came from address[l].
void access_loaded(Access *a);

// To be called when a launch begins: reads which observers there are.
void access_start(void);

// The memory that a lane of an access touches.
u8 *access_place(const Access *a, u32 lane);

// The space in which the generic addresses of these lanes lie, all in that of the first lane.
// Subtracts the space's window from them, and in shared memory the block's own base.
enum space access_generic(const Warp *w, u64 address[LANES], u32 mask);

// Waits until every live lane of the warp has reached this instruction, as an .aligned one demands
// (exchange.c). 0: some have not yet, or some have ended, which is reported. `i->members` names all
// lanes.
u32 exchange_all(Warp *w, const Insn *i, u32 mask);

// The same for instructions that need live lanes only.
u32 exchange_live(Warp *w, const Insn *i, u32 mask);
