// The GPU of this machine, asked of its driver.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { GPUS_MOST = 16 };

// One of the GPUs that this process may use.
typedef struct GpuOne {
    char uuid[48]; // "GPU-...", as CUDA_VISIBLE_DEVICES takes it
    int node;      // it is /dev/nvidiaN; -1: not known
} GpuOne;

typedef struct Gpu {
    char name[64];       // "NVIDIA H200"
    char driver[32];     // "580.159.04", or the newest CUDA that it knows: "CUDA 13.0"
    int major, minor;    // compute capability
    int count;           // of GPUs that this process may use
    bool exports_memory; // by descriptors (not in WSL)
    uint64_t l2_bytes;
    double bytes_per_second; // of its memory: both edges of the clock over the bus
    char library[256];       // the folder of the driver's library
    GpuOne one[GPUS_MOST];   // the first of them
} Gpu;

// Looks at the first GPU, and counts them. False: there is no driver, or no GPU that it can use.
bool gpu_find(Gpu *gpu);

// What a program on these GPUs opens: the paths of device nodes, NULL at the end. nvidia-uvm-tools,
// which looks into other processes' memory, is not among them. Where a node isn't known they are
// the nodes of all GPUs. The caller frees the list and the paths. GPU_ROOT in the environment
// stands before /dev and /proc, for the tests.
char **gpu_nodes(const Gpu *gpu);

// Writes zeros over all memory of these GPUs that is free: no program that is started later reads
// there what one before has left. Returns how many bytes; 0: a GPU cannot be used.
uint64_t gpu_scrub(void);
