// The memory of the fake device: a file that the device and the program map at the same place.
#pragma once
#include <stdbool.h>
#include <sys/mman.h>

#define FAKE_MEMORY 0x200000000000ul
#define FAKE_BYTES (64ul << 20)

static inline bool fake_map(int file)
{
    return mmap((void *)FAKE_MEMORY, FAKE_BYTES, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0)
        != MAP_FAILED;
}
