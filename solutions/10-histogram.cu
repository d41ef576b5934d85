// Lesson 10: how often does each byte occur? Every thread has to count in the same 256 bins.
//
// An atomic addition makes that right. It is fast if few additions meet.
#include "10-histogram.h"

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

//> sizes
enum {
    BINS = 256,
    THREADS = 1024,  // in a block
    BLOCKS = 264,    // at most: they fill the device
    SHARE = 32768,   // bytes for each block, at least
};
//< sizes

//> naive
// Version 1: each byte is an atomic addition to the answer.
__global__ void count_naive(int *bins, const unsigned char *in, int n)
{
    int first = blockIdx.x * THREADS + threadIdx.x;
    int apart = gridDim.x * THREADS;  // all threads of the grid

    for (int i = first; i < n; i += apart)
        atomicAdd(&bins[in[i]], 1);
}
//< naive

//> private
// Version 2: the block counts in bins of its own, in shared memory, and
// adds them to the answer when it has counted its share.
__global__ void count_private(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    //> empty-mine
    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    //< empty-mine
    //> count TODO: count this block's share in `mine`; who has to wait for whom? (4 lines)
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    //< count
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}
//< private

//> sixteen TODO:
// Counts the 16 bytes of v. Bin b is bins[b * apart].
__device__ void count_16(int *bins, int apart, uint4 v)
{
    const unsigned four[] = { v.x, v.y, v.z, v.w };

    #pragma unroll
    for (int k = 0; k < 16; k++) {
        //> byte
        int b = four[k / 4] >> 8 * (k % 4) & 255;
        //< byte
        atomicAdd(&bins[b * apart], 1);
    }
}

// Counts the block's share of the n bytes, 16 in one load. The first
// threads of the grid count the last n % 16 bytes, one each.
__device__ void count_share(int *bins, int apart,
                            const unsigned char *in, int n)
{
    const uint4 *in16 = reinterpret_cast<const uint4 *>(in);
    int whole = n / 16;
    int first = blockIdx.x * THREADS + threadIdx.x;

    for (int i = first; i < whole; i += gridDim.x * THREADS)
        count_16(bins, apart, in16[i]);
    //> rest
    if (first < n % 16)
        atomicAdd(&bins[in[16 * whole + first] * apart], 1);
    //< rest
}
//< sixteen

//> vectors TODO:
// Version 3: as version 2, but a thread loads 16 bytes at a time.
__global__ void count_vectors(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    count_share(mine, 1, in, n);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}
//< vectors

//> copies TODO:
// Version 4: each lane has bins of its own, all of them in its own bank.
// All warps of the block share them.
enum { COPIES = 32 };

__device__ void empty(int copies[BINS][COPIES])
{
    for (int i = threadIdx.x; i < BINS * COPIES; i += THREADS)
        copies[i / COPIES][i % COPIES] = 0;
}

// The sum of a bin's copies. Neighbouring threads sum neighbouring bins,
// and each begins at another bank. Eight loads at a time: all 32 would
// take so many registers that one block has room where there are two.
__device__ int sum_of(const int copy[COPIES])
{
    int sum = 0;

    #pragma unroll 8
    for (int c = 0; c < COPIES; c++)
        sum += copy[(threadIdx.x + c) % COPIES];
    return sum;
}

__global__ void count_copies(int *bins, const unsigned char *in, int n)
{
    __shared__ int copies[BINS][COPIES];
    int t = threadIdx.x;

    empty(copies);
    __syncthreads();
    count_share(&copies[0][t % COPIES], COPIES, in, n);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], sum_of(copies[b]));
}
//< copies

//> one-launch TODO:
// Version 5: `bins` need not be emptied first. The blocks add to totals
// that are 0 between calls, and the last block copies them to `bins`.
__device__ int totals[BINS];
__device__ unsigned tickets;  // drawn by the blocks of this call

// Is this block the last one? Then all other blocks have asked before,
// and this block sees what they did before they asked.
__device__ bool is_last(void)
{
    __shared__ bool last;

    __syncthreads();  // the whole block is done
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> drawn(tickets);
        last = drawn.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    return last;
}

__global__ void count_one_launch(int *bins, const unsigned char *in, int n)
{
    __shared__ int copies[BINS][COPIES];
    int t = threadIdx.x;

    empty(copies);
    __syncthreads();
    count_share(&copies[0][t % COPIES], COPIES, in, n);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&totals[b], sum_of(copies[b]));

    if (!is_last())
        return;
    for (int b = t; b < BINS; b += THREADS) {
        bins[b] = totals[b];
        //> empty-totals
        totals[b] = 0;  // for the next call
        //< empty-totals
    }
    if (t == 0)
        tickets = 0;
}
//< one-launch

//> version TODO:
#ifndef VERSION
#define VERSION 5  // what `histogram` uses
#endif
//< version

//> launch
extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    //> choice TODO:
    //| auto kernel = count_private;  // or count_naive, to compare
    auto kernel = VERSION == 1   ? count_naive
                  : VERSION == 2 ? count_private
                  : VERSION == 3 ? count_vectors
                  : VERSION == 4 ? count_copies
                                 : count_one_launch;
    //< choice

    //> blocks
    int blocks = n / SHARE + 1;
    //< blocks
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    //> unless TODO:
    if (VERSION < 5)
    //< unless
    //> empty-bins
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    //< empty-bins
    //> run
    kernel<<<blocks, THREADS>>>(bins, in, n);
    //< run
    CHECK(cudaGetLastError());  // the caller synchronises
}
//< launch
