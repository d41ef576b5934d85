// Host memory without which the device cannot work.
#pragma once
#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void no_memory(void)
{
    perror("simulator/run: this machine has no memory left for the simulated device");
    exit(1);
}

// Returns what malloc and the like returned, or exits if that failed; mmap's MAP_FAILED is -1.
static inline void *need(void *memory)
{
    if (!memory || memory == (void *)-1) no_memory();
    return memory;
}
