// Memory of the host that the device cannot do without.
#pragma once
#include <stdio.h>
#include <stdlib.h>

_Noreturn static inline void no_memory(void)
{
    perror("simulator: this machine has no memory left for the simulated device");
    exit(1);
}

// What malloc and the like have given, if they have; mmap's MAP_FAILED is -1.
static inline void *need(void *memory)
{
    if (!memory || memory == (void *)-1) no_memory();
    return memory;
}
