// The schedulers of the replayed multiprocessor, and their units.
#pragma once
#include "replay_state.h"

// Issues an instruction whose operands are ready. Returns the clock.
double issue(Machine *m, Runner *r, const Op *op);

// ---- Native instructions ----

// Lets the warp's next instruction, a native one, wait for its scoreboards; the first after others
// also for what its run reads.
void issue_wait(const Machine *m, Runner *r, const Op *op);

// Must it wait for its unit? Then the scheduler issues instructions of other warps first.
bool issue_must_wait(Machine *m, Runner *r, const Op *op);

// Issues it. Returns the clock.
double issue_native(Machine *m, Runner *r, const Op *op);

// Sets the scoreboards of one that was issued then, and whose result is there then. Returns when
// the warp's next one may be issued.
double issue_end(const Machine *m, Runner *r, const Op *op, double now, double done);

// Does the warp's next instruction follow at once, after that op? A scheduler goes on with a warp
// as long as it can.
bool issue_follows(const Machine *m, const Runner *r, const Op *op);
