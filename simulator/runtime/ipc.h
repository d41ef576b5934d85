// Memory and events that processes pass to one another (cudaIpc*).
#pragma once
#include "memory/memory.h"
#include "serve.h"

void ipc_make(void); // what all processes of the machine need for it

// Requests. A handle is a key that nobody guesses.
void ipc_export_memory(Call *call);
void ipc_import_memory(Call *call);
void ipc_close_memory(Call *call);
void ipc_export_event(Call *call);
void ipc_import_event(Call *call);

// Exported memory has been freed: nobody can open it any more.
void ipc_freed(const Allocation *allocation);
