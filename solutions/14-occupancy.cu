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

//> resident
int smaller(int a, int b) { return a < b ? a : b; }

int round_up(int x, int portion)
{
    return (x + portion - 1) / portion * portion;
}

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    //> limits TODO: how many blocks each limit allows; the smallest number is the answer (7 lines)
    int warps = round_up(threads, 32) / 32;
    //> room
    int a_warp = round_up(32 * registers, 256);  // registers
    // The warps that find their registers: each scheduler has a quarter.
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
// Copies the curve's points to shared memory. All threads of the block
// must call it together.
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
// Each thread takes readings that are a whole grid apart.
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

//> wide TODO:
// Version 3: each load brings 16 bytes, and a thread asks for VECTORS of
// them before it uses the first. 16 warps on a multiprocessor are enough.
enum { WIDE = 512, VECTORS = 4 };  // threads in a block; loads under way

//> table
// A block of WIDE threads copies 2,048 vectors, four a thread, and a point.
__device__ void copy_table_wide(float4 *here4, const float *table)
{
    const float4 *table4 = (const float4 *)table;
    float4 point[VECTORS];

    for (int j = 0; j < VECTORS; j++)  // all loads first
        point[j] = table4[j * WIDE + threadIdx.x];
    for (int j = 0; j < VECTORS; j++)
        here4[j * WIDE + threadIdx.x] = point[j];
    if (threadIdx.x == 0)
        here4[POINTS / 4].x = table[POINTS - 1];
    __syncthreads();
}
//< table

//> vectors
__global__ void __launch_bounds__(WIDE)
calibrate_wide(float *out, const int *raw, const float *table, int n)
{
    __shared__ float4 here4[POINTS / 4 + 1];
    const float *here = (const float *)here4;
    copy_table_wide(here4, table);

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
    if (last < n)  // up to three readings are left
        out[last] = interpolate(here, raw[last]);
    //< last
}
//< vectors
//< wide

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

    //> one-block TODO:
    if (VERSION == 3) {
        calibrate_wide<<<multiprocessors, WIDE>>>(out, raw, table, n);
        CHECK(cudaGetLastError());
        return;
    }
    //< one-block

    //> launch
    //> guess
    int threads = 64, blocks = 6;  // in a block; of them on a multiprocessor
    //< guess
    //> choose TODO:
    for (int t = 128; VERSION == 2 && t <= 1024; t *= 2) {
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
