// What libraries of ours, which stand in for NVIDIA's, need from the runtime beside CUDA calls.
// They get the table of functions as NVIDIA's own libraries do, by cudaGetExportTable() with an id.
// NVIDIA's runtime does not know our id and returns no table.
#pragma once
#include <cuda_runtime_api.h>

// The bytes of the id.
#define INSIDE_TABLE "warpwise: inside"

typedef struct Inside {
    // 1: this thread's calls from now on are part of the library's own call, and cost the host
    // nothing more. Kernels that are captured may access every device's memory. -1: no longer.
    void (*within)(int change);

    // Charges the host for `count` calls of that function, "ncclAllReduce".
    void (*calls)(const char *name, unsigned count);

    // Runs the stream's work as far as possible, so that other processes find what it writes. The
    // simulated clock does not advance.
    cudaError_t (*settle)(cudaStream_t stream);

    // Reports that this is not supported here, at the line of the program that asks. The thread's
    // last error stays as it is.
    cudaError_t (*unsupported)(const char *what);
} Inside;
