// Lesson 14: a curve of 8,193 points, in the shared memory of each block, so that few blocks fit.
//
// A multiprocessor waits for memory as long as nothing else is there to do. What helps is more under way: more warps, which is
// occupancy, or more in each of them, which is instruction-level parallelism.
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
    // TODO: how many each limit lets in; the smallest is the answer (7 lines)
    return 0;
}

// The curve's points, from global to shared memory. The whole block comes.
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

// Versions 1 and 2: the grid strides over the readings.
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
    // TODO: of 64, 128, ... 1,024 threads those of which a multiprocessor holds most (7 lines)
    calibrate_one<<<blocks * multiprocessors, threads>>>(out, raw, table, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
