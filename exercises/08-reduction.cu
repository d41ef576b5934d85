// Lesson 8: add up a vector, first within threads, then within blocks, then over the blocks.
//
// A tree adds n numbers in log2(n) steps, but each step waits for the step before it. So the tree
// comes last. Most of the additions are made before it, by threads that do not wait for each other.
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

// Versions 1 to 3: each thread adds elements that are a whole grid apart.
// Then the block adds its upper half to its lower half, and does the same
// with what is left.
__global__ void block_sums(float *sums, const float *in, int n)
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

    // TODO: add up `partial` in a tree; partial[0] is the sum (5 lines)

    if (t == 0)
        sums[blockIdx.x] = partial[0];
}

extern "C" void reduce(float *out, const float *in, int n,
                       float *scratch)
{
    // One block adds everything.
    block_sums<<<1, THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
