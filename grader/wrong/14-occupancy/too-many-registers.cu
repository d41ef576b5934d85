// expect: PROTOCOL
// says: too many resources requested for launch
// 1,024 threads with 80 registers each: the compiler was not told how large a block is.
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
    __syncthreads();
}

__device__ float interpolate(const float *table, int raw)
{
    int k = raw / 8;
    float part = raw % 8 * 0.125f;
    return table[k] + part * (table[k + 1] - table[k]);
}

// 16 bytes a load, and VECTORS loads under way in each thread:
// with a quarter of the warps, and half the copies of the table.
enum { VECTORS = 12 };

__global__ void calibrate_vectors(float *out, const int *raw,
                                                         const float *table, int n)
{
    __shared__ float here[POINTS];
    copy_table(here, table);
    const int4 *raw4 = (const int4 *)raw;
    float4 *out4 = (float4 *)out;
    int vectors = n / 4, stride = gridDim.x * blockDim.x;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;

    for (int i = thread; i < vectors; i += VECTORS * stride) {
        int4 r[VECTORS];
        for (int j = 0; j < VECTORS; j++)  // all loads first
            if (i + j * stride < vectors)
                r[j] = raw4[i + j * stride];
        for (int j = 0; j < VECTORS; j++)
            if (i + j * stride < vectors)
                out4[i + j * stride] = make_float4(interpolate(here, r[j].x), interpolate(here, r[j].y),
                                                   interpolate(here, r[j].z), interpolate(here, r[j].w));
    }
    if (thread < n % 4)  // the last ones, if they are no four
        out[4 * vectors + thread] = interpolate(here, raw[4 * vectors + thread]);
}

extern "C" void calibrate(float *out, const int *raw, const float *table, int n)
{
    if (n == 0)
        return;

    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));

    calibrate_vectors<<<multiprocessors, 1024>>>(out, raw, table, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
