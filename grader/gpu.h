// The GPU of this machine, asked of its driver.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct Gpu {
    char name[64];       // "NVIDIA H200"
    char driver[32];     // "580.159.04", or the newest CUDA that it knows: "CUDA 13.0"
    int major, minor;    // compute capability
    int count;           // of GPUs in this machine
    bool exports_memory; // by descriptors (not in WSL)
    uint64_t l2_bytes;
    double bytes_per_second; // of its memory: both edges of the clock over the bus
} Gpu;

// Looks at the first GPU, and counts them. False: there is no driver, or no GPU that it can use.
bool gpu_find(Gpu *gpu);
