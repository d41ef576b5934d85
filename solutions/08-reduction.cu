// Lesson 8: add up a vector, first within threads, then within blocks, then over the blocks.
//
// A tree adds n numbers in log2(n) steps, but each step waits for the step before it. So the tree
// comes last. Most of the additions are made before it, by threads that do not wait for each other.
#include "08-reduction.h"

//> atomic TODO:
#include <cuda/atomic>
//< atomic
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

//> threads
enum { THREADS = 256 };  // threads in a block: 8 warps
//< threads

//> halves
// Versions 1 to 3: each thread adds elements that are a whole grid apart.
// Then the block adds its upper half to its lower half, and does the same
// with what is left.
__global__ void block_sums(float *sums, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    //> own
    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;  // all threads of the grid
    float sum = 0;
    for (int i = first; i < n; i += apart)
        sum += in[i];
    //< own
    partial[t] = sum;
    __syncthreads();

    //> tree TODO: add up `partial` in a tree; partial[0] is the sum (5 lines)
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    //< tree

    //> store-sum
    if (t == 0)
        sums[blockIdx.x] = partial[0];
    //< store-sum
}
//< halves

//> limit TODO:
enum { BLOCKS = 1024 };  // enough to fill the device
//< limit

//> warp-sum TODO:
// The sum of the 32 lanes' x, in lane 0. All 32 must call it together.
__device__ float warp_sum(float x)
{
    for (int away = 16; away > 0; away /= 2)
        //> lanes
        x += __shfl_down_sync(0xffffffff, x, away);
        //< lanes
    return x;
}
//< warp-sum

//> shuffles TODO:
// Version 4: each warp adds its sums in registers. Shared memory is used
// once, to bring the sums of the 8 warps to the first warp.
__global__ void block_sums_shuffles(float *sums, const float *in, int n)
{
    __shared__ float warp_sums[THREADS / 32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;

    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;
    float sum = 0;
    for (int i = first; i < n; i += apart)
        //> own-shuffles
        sum += in[i];
        //< own-shuffles

    sum = warp_sum(sum);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    //> last-warp
    if (warp == 0) {  // a whole warp, so all 32 lanes call warp_sum
        sum = warp_sum(lane < THREADS / 32 ? warp_sums[lane] : 0);
        if (lane == 0)
            sums[blockIdx.x] = sum;
    }
    //< last-warp
}
//< shuffles

//> vectors TODO:
// Version 5: as version 4, but a thread loads four floats at a time. Up to
// three are left at the end. The grid's first threads add one each.
__device__ float own_sum_vectors(const float *in, int n)
{
    const float4 *in4 = (const float4 *)in;
    int fours = n / 4;
    int first = blockIdx.x * THREADS + threadIdx.x;
    int apart = gridDim.x * THREADS;
    //> own-last
    float sum = first < n % 4 ? in[4 * fours + first] : 0;
    //< own-last
    for (int i = first; i < fours; i += apart) {
        float4 v = in4[i];
        //> own-four
        sum += (v.x + v.y) + (v.z + v.w);
        //< own-four
    }
    return sum;
}

// The sum of the block's x, in thread 0.
__device__ float block_sum(float x)
{
    __shared__ float warp_sums[THREADS / 32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;

    x = warp_sum(x);
    if (lane == 0)
        warp_sums[warp] = x;
    __syncthreads();
    if (warp == 0)
        x = warp_sum(lane < THREADS / 32 ? warp_sums[lane] : 0);
    return x;
}

__global__ void block_sums_vectors(float *sums, const float *in, int n)
{
    float sum = block_sum(own_sum_vectors(in, n));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
//< vectors

//> one-launch TODO:
// Version 6: one launch. Each block stores its sum and draws a ticket.
// The block that draws the last ticket knows that all sums are stored.
__device__ unsigned tickets;  // drawn in this call; 0 between calls

__global__ void sum_one_launch(float *out, const float *in, int n,
                               float *sums)
{
    __shared__ bool last;
    int t = threadIdx.x;

    float sum = block_sum(own_sum_vectors(in, n));
    if (t == 0) {
        sums[blockIdx.x] = sum;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> drawn(tickets);
        last = drawn.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;

    sum = 0;
    for (int i = t; i < gridDim.x; i += THREADS)
        //> blocks-sums
        sum += sums[i];
        //< blocks-sums
    sum = block_sum(sum);
    if (t == 0) {
        *out = sum;
        tickets = 0;  // for the next call
    }
}
//< one-launch

//> version TODO:
#ifndef VERSION
#define VERSION 6  // what `reduce` does; 1 to 3 launch one kernel
#endif
//< version

//> launch
extern "C" void reduce(float *out, const float *in, int n,
                       float *scratch)
{
    //> launches TODO:
    //| // One block adds everything.
    //| block_sums<<<1, THREADS>>>(out, in, n);
    //> choice
    auto kernel = VERSION <= 3   ? block_sums
                  : VERSION == 4 ? block_sums_shuffles
                                 : block_sums_vectors;
    //< choice
    if (VERSION == 1) {  // one block adds everything
        kernel<<<1, THREADS>>>(out, in, n);
        CHECK(cudaGetLastError());
        return;
    }

    //> blocks
    int blocks = (n + THREADS - 1) / THREADS;  // a thread for each element
    //< blocks
    //> fewer
    if (VERSION >= 3 && blocks > BLOCKS)
        blocks = BLOCKS;  // a thread for several elements
    //< fewer
    //> one
    if (VERSION == 6) {
        if (blocks == 0)
            blocks = 1;  // there must be a block that stores the 0
        sum_one_launch<<<blocks, THREADS>>>(out, in, n, scratch);
        CHECK(cudaGetLastError());
        return;
    }
    //< one
    //> two
    //> first
    if (blocks > 0)  // a grid of no blocks is an error
        kernel<<<blocks, THREADS>>>(scratch, in, n);
    CHECK(cudaGetLastError());
    //< first

    //> second
    kernel<<<1, THREADS>>>(out, scratch, blocks);
    //< second
    //< two
    //< launches
    CHECK(cudaGetLastError());  // the caller synchronises
}
//< launch
