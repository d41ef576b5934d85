// expect: MEMORY
// says: memory that nothing wrote
// Each block adds its sum to what scratch holds before the call.
#include "08-reduction.h"

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

enum { THREADS = 256 };  // threads in a block: 8 warps

// Version 1: each thread adds elements that lie a whole grid apart.
// Then the block adds neighbours, then sums two apart, four apart ...
__global__ void block_sums_naive(float *sums, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;  // all threads of the grid
    float sum = 0;
    for (int i = first; i < n; i += apart)
        sum += in[i];
    partial[t] = sum;
    __syncthreads();

    for (int stride = 1; stride < THREADS; stride *= 2) {
        if (t % (2 * stride) == 0)
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}

// Version 2: the block adds its upper half to its lower half, then does
// the same with what is left. The threads at work are the first ones.
__global__ void block_sums(float *sums, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;
    float sum = 0;
    for (int i = first; i < n; i += apart)
        sum += in[i];
    partial[t] = sum;
    __syncthreads();

    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }

    if (t == 0)
        sums[blockIdx.x] += partial[0];
}

extern "C" void reduce(float *out, const float *in, int n,
                       float *scratch)
{
    auto kernel = block_sums;  // or block_sums_naive, to compare

    int blocks = (n + THREADS - 1) / THREADS;  // a thread an element
    if (blocks > 0)  // a grid of no blocks is an error
        kernel<<<blocks, THREADS>>>(scratch, in, n);
    CHECK(cudaGetLastError());

    kernel<<<1, THREADS>>>(out, scratch, blocks);
    CHECK(cudaGetLastError());  // the caller synchronises
}
