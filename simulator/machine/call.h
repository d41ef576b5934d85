// Calls of functions that have a body, and the stack that they use.
#pragma once
#include "grid.h"
#include "warp.h"

void call_return(Warp *, u32 mask); // these lanes, all at one depth, return
void call_stacks_free(Warp *);
void call_set_stack(u32 device, u64 bytes); // cudaLimitStackSize
void call_make_room(const Launch *);        // sets its kernel's local_bytes for the stack
