// What a library of ours that stands in for one of NVIDIA's asks of the runtime beside CUDA's
// calls. It finds these functions as NVIDIA's own libraries find theirs: cudaGetExportTable() gives
// them for an id that only they know. NVIDIA's runtime, which does not know it, gives none.
#pragma once
#include <cuda_runtime_api.h>

// "warpwise: inside" in bytes.
#define INSIDE_TABLE "warpwise: inside"

typedef struct Inside {
    // What this thread calls from now on is part of the library's own call, and costs the host
    // nothing more; -1: no longer.
    void (*within)(int change);

    // So many calls have been made of the function of that name, "ncclAllReduce": the host was busy
    // with them.
    void (*calls)(const char *name, unsigned count);

    // Has the stream's work done that can be: other processes then find what it writes. On the
    // simulated clock nothing waits.
    cudaError_t (*settle)(cudaStream_t stream);

    // Reports that this cannot be had here, at the line of the program that asks.
    cudaError_t (*unsupported)(const char *what);
} Inside;
