// expect: WRONG
// says: somewhere they were kept in 8 bits
// Each thread counts in bytes of its own, in which 256 equal ones are none.
#include "10-histogram.h"

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

enum { BINS = 256, THREADS = 128, BLOCKS = 1056, SHARE = 65536 };

__global__ void count(int *bins, const unsigned char *in, int n)
{
    __shared__ unsigned char mine[BINS][THREADS];
    int t = threadIdx.x;

    for (int b = 0; b < BINS; b++)
        mine[b][t] = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        mine[in[i]][t]++;
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS) {
        int sum = 0;
        for (int c = 0; c < THREADS; c++)
            sum += mine[b][c];
        atomicAdd(&bins[b], sum);
    }
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    int blocks = n / SHARE + 1;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    count<<<blocks, THREADS>>>(bins, in, n);
    CHECK(cudaGetLastError());
}
