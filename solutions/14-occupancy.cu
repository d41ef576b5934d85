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

//> resident
int smaller(int a, int b) { return a < b ? a : b; }

int round_up(int x, int portion)
{
    return (x + portion - 1) / portion * portion;
}

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    //> limits TODO: how many each limit lets in; the smallest is the answer (7 lines)
    int warps = round_up(threads, 32) / 32;
    //> room
    int a_warp = round_up(32 * registers, 256);  // registers
    // For so many warps of them: each scheduler has a quarter.
    int room = 65536 / 4 / a_warp * 4;
    //< room

    //> warps
    int blocks = smaller(32, 64 / warps);
    //< warps
    //> registers
    blocks = smaller(blocks, room / warps);
    //< registers
    //> shared
    return smaller(blocks, 233472 / round_up(shared + 1024, 128));
    //< shared
    //| return 0;
    //< limits
}
//< resident

//> interpolate
// The curve's points, from global to shared memory. The whole block comes.
__device__ void copy_table(float *here, const float *table)
{
    //> copy
    for (int k = threadIdx.x; k < POINTS; k += blockDim.x)
        here[k] = table[k];
    //< copy
    //> copied
    __syncthreads();
    //< copied
}

__device__ float interpolate(const float *table, int raw)
{
    //> between
    int k = raw / 8;
    float part = raw % 8 * 0.125f;
    return table[k] + part * (table[k + 1] - table[k]);
    //< between
}
//< interpolate

//> one
// Versions 1 and 2: the grid strides over the readings.
__global__ void calibrate_one(float *out, const int *raw, const float *table,
                              int n)
{
    __shared__ float here[POINTS];
    copy_table(here, table);
    //> stride
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = interpolate(here, raw[i]);
    //< stride
}
//< one

//> vectors TODO:
// Version 3: 16 bytes a load, and VECTORS loads under way in each thread:
// with a quarter of the warps, and half the copies of the table.
enum { VECTORS = 4 };

__global__ void __launch_bounds__(512)
calibrate_vectors(float *out, const int *raw, const float *table, int n)
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
                out4[i + j * stride] = make_float4(
                    interpolate(here, r[j].x), interpolate(here, r[j].y),
                    interpolate(here, r[j].z), interpolate(here, r[j].w));
    }
    //> last
    int last = 4 * vectors + thread;
    if (last < n)  // the last ones, if they are no four
        out[last] = interpolate(here, raw[last]);
    //< last
}
//< vectors

//> version TODO:
#ifndef VERSION
#define VERSION 3  // what `calibrate` launches
#endif
//< version

extern "C" void calibrate(float *out, const int *raw, const float *table, int n)
{
    //> empty
    if (n == 0)
        return;
    //< empty

    int multiprocessors;
    CHECK(cudaDeviceGetAttribute(&multiprocessors,
                                 cudaDevAttrMultiProcessorCount, 0));

    //> guess TODO:
    if (VERSION == 1) {
        calibrate_one<<<6 * multiprocessors, 64>>>(out, raw, table, n);
        CHECK(cudaGetLastError());
        return;
    }
    //< guess
    //> one-block TODO:
    if (VERSION == 3) {
        calibrate_vectors<<<multiprocessors, 512>>>(out, raw, table, n);
        CHECK(cudaGetLastError());
        return;
    }
    //< one-block

    //> launch
    int threads = 64, blocks = 6;  // in a block; of them on a multiprocessor
    //> choose TODO: of 64, 128, ... 1,024 threads those of which a multiprocessor holds most (7 lines)
    for (int t = 64; t <= 1024; t *= 2) {
        int fit;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &fit, calibrate_one, t, 0));
        if (fit * t >= blocks * threads) {
            threads = t;
            blocks = fit;
        }
    }
    //< choose
    //> run
    calibrate_one<<<blocks * multiprocessors, threads>>>(out, raw, table, n);
    //< run
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}
