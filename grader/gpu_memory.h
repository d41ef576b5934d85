// The owner of a call's arrays on a GPU: a process of the grader's, which no submission knows, that
// answers the owner's requests as the simulated device does (simulator/wire/wire.h, "The owner"):
// ALLOC, COPY_IN, COPY_OUT and FREE. Memory is made by cuMemCreate; the reply to ALLOC brings a
// descriptor of it, by which the worker maps it into its own process (CUDA Programming Guide,
// "Virtual Memory Management"), and .memory.size says how much that maps. What the worker's
// kernels write is there once the worker has waited for them; for that its word is taken.
#pragma once
#include <sys/types.h>

// Starts it. Returns its process id, with *socket our end of its socket: when that is closed the
// process ends. -1: it cannot be started; errno says why.
pid_t gpu_memory_start(int *socket);
