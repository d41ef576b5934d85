// Memory and events that processes share (cudaIpc*). A handle is a random key.
#pragma once
#include "memory/memory.h"
#include "serve.h"

void ipc_make(void); // makes the table that all device processes share

// Exported memory was freed: no process can open it any more.
void ipc_freed(const Allocation *allocation);
