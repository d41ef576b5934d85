// expect: MEMORY
// says: its blocks have 2048 threads and may have 1024
// 2048 threads are too many for a block; nobody looks at the error, and nothing was computed.
#include "01-first-kernel.h"

#include <stdio.h>
#include <stdlib.h>

// Around every CUDA call: if it fails, says where and why, and stops.
#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 2048 };  // threads in a block: a multiple of 32, the size of a warp

// Runs once in each thread of the grid. Threads of the last block that lie
// beyond the end of the vectors have nothing to add.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    if (n == 0)
        return;  // a grid of no blocks is an error

    size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_c;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_c, bytes));

    CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));

    int blocks = (n + THREADS - 1) / THREADS;  // rounded up
    add<<<blocks, THREADS>>>(device_c, device_a, device_b, n);

    CHECK(cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost));

    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
}
