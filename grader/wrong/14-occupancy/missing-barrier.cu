// expect: RACE
// at: here[k] = table[k];
// The curve is read while others still copy it.
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

int round_up(int x, int portion) { return (x + portion - 1) / portion * portion; }
int smaller(int a, int b) { return a < b ? a : b; }

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    int warps = round_up(threads, 32) / 32;
    int a_warp = round_up(32 * registers, 256);  // registers
    int room = 65536 / 4 / a_warp * 4;  // for so many warps of them: each scheduler has a quarter

    int blocks = smaller(32, 64 / warps);
    blocks = smaller(blocks, room / warps);
    return smaller(blocks, 233472 / round_up(shared + 1024, 128));
}

// The curve's points, from global to shared memory. The whole block comes.
__device__ void copy_table(float *here, const float *table)
{
    for (int k = threadIdx.x; k < POINTS; k += blockDim.x)
        here[k] = table[k];
}

__device__ float interpolate(const float *table, int raw)
{
    int k = raw / 8;
    float part = raw % 8 * 0.125f;
    return table[k] + part * (table[k + 1] - table[k]);
}

// Versions 1 and 2: the grid strides over the readings.
__global__ void calibrate_one(float *out, const int *raw, const float *table, int n)
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
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));

    int threads = 64, blocks = 6;  // in a block; of them on a multiprocessor
    for (int t = 64; t <= 1024; t *= 2) {
        int fit;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, calibrate_one, t, 0));
        if (fit * t >= blocks * threads) {
            threads = t;
            blocks = fit;
        }
    }
    calibrate_one<<<blocks * multiprocessors, threads>>>(out, raw, table, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
