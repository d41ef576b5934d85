// Memory and events that processes pass to one another (cudaIpc*). A handle is a key that
// cannot be guessed.
#pragma once
#include "memory/memory.h"
#include "serve.h"

void ipc_make(void); // what all processes of the machine need for it

// Exported memory has been freed: nobody can open it any more.
void ipc_freed(const Allocation *allocation);
