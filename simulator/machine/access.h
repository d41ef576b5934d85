// What the load/store unit offers to instructions that make several accesses (lsu.c).
#pragma once
#include "observer.h"

// Lets the observers look at an access whose warp, insn, mask, space, direction, bytes and
// addresses are filled in, and its owner, where that is not its own block. `pattern` is what the
// instruction remembers of it, NULL: nothing. False: it must not happen.
bool access_allow(Access *a, struct AccessPattern *pattern);

// A load whose values are in the registers, of which lane l's part came from its address.
void access_loaded(Access *a);

// To be called when a launch begins: who looks on.
void access_start(void);

// Where the byte is that a lane of an access touches.
u8 *access_place(const Access *a, u32 lane);

// Which space generic addresses of these lanes lie in; window is taken off them, and the block's
// own base in shared memory. They all lie where the first one does.
enum space access_generic(const Warp *w, u64 address[LANES], u32 mask);

// Waits until all lanes of the warp that live are at this instruction, as an .aligned one wants
// them; exchange.c. 0: they are not, or some have ended, which is reported. `i->members` names all
// lanes.
u32 exchange_all(Warp *w, const Insn *i, u32 mask);

// The same, of those that live alone.
u32 exchange_live(Warp *w, const Insn *i, u32 mask);
