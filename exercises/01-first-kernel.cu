// Lesson 1: add two vectors on the device: with one thread, then with a block, then with a grid.
//
// The host copies a and b to the device, launches the kernel there, and copies c back.
#include "01-first-kernel.h"

#include <stdio.h>
#include <stdlib.h>

// Wraps a CUDA call. If the call fails, prints where and why, and ends.
#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

// Adds a and b, element by element.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    // TODO: set c[i] to a[i] + b[i], for every i from 0 to n - 1 (2 lines)
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    if (n == 0)
        return;  // nothing to add

    size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_c;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_c, bytes));

    CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    // TODO: copy b to the device, as the line above copies a (1 line)

    // TODO: launch add with 1 block of 1 thread, and check twice (3 lines)

    // TODO: copy the answer from the device to c (1 line)

    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
}
