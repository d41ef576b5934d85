// Lesson 14: a curve of 8,193 points, which each block copies to its shared memory.
//
// A warp waits for what it has loaded. The memory stays busy meanwhile only if enough loads are under way: from more warps, which
// is occupancy, or from more loads in each warp, which is instruction-level parallelism.
#include "14-occupancy.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { POINTS = 8193 };  // of the curve

int smaller(int a, int b) { return a < b ? a : b; }

int round_up(int x, int portion)
{
    return (x + portion - 1) / portion * portion;
}

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    // TODO: how many blocks each limit allows; the smallest number is the answer (7 lines)
    return 0;
}

// Copies the curve's points to shared memory. All threads of the block
// must call it together.
__device__ void copy_table(float *here, const float *table)
{
    for (int k = threadIdx.x; k < POINTS; k += blockDim.x)
        here[k] = table[k];
    __syncthreads();
}

__device__ float interpolate(const float *table, int raw)
{
    int k = raw / 8;
    float part = raw % 8 * 0.125f;
    return table[k] + part * (table[k + 1] - table[k]);
}

// Each thread takes readings that are a whole grid apart.
__global__ void calibrate_one(float *out, const int *raw, const float *table,
                              int n)
{
    __shared__ float here[POINTS];
    copy_table(here, table);
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = interpolate(here, raw[i]);
}

extern "C" void calibrate(float *out, const int *raw, const float *table, int n)
{
    if (n == 0)
        return;

    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors,
                                 cudaDevAttrMultiProcessorCount, 0));

    int threads = 64, blocks = 6;  // in a block; of them on a multiprocessor
    calibrate_one<<<blocks * multiprocessors, threads>>>(out, raw, table, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
