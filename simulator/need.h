// Memory of the host that the device cannot do without.
#pragma once
#include <stdio.h>
#include <stdlib.h>

// What malloc and the like have given, if they have; mmap's MAP_FAILED is -1.
static inline void *need(void *memory)
{
    if (memory && memory != (void *)-1) return memory;
    perror("simulator: this machine has no memory left for the simulated device");
    exit(1);
}
