// Memory and events that processes share (cudaIpc*). A handle is a key that cannot be guessed.
#pragma once
#include "memory/memory.h"
#include "serve.h"

void ipc_make(void); // makes what all processes of the machine share for it

// Exported memory was freed: no process can open it any more.
void ipc_freed(const Allocation *allocation);
