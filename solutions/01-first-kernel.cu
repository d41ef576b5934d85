// Lesson 1: add two vectors on the device: with one thread, then with a block, then with a grid.
//
// The host copies a and b to the device, launches the kernel there, and copies c back.
#include "01-first-kernel.h"

//> includes
#include <stdio.h>
#include <stdlib.h>
//< includes

//> check
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
//< check

//> version TODO:
#ifndef VERSION
#define VERSION 3  // 1: one thread; 2: one block; 3: a grid of blocks
#endif
//< version

//> kernel
// Adds a and b, element by element.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    //> loop TODO: set c[i] to a[i] + b[i], for every i from 0 to n - 1 (2 lines)
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    //< loop
}
//< kernel

//> threads TODO:
enum { THREADS = 256 };  // threads in a block: a multiple of 32, the size of a warp
//< threads

//> block TODO:
// Version 2: the threads of one block share the elements.
__global__ void add_block(float *c, const float *a, const float *b, int n)
{
    //> share
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        c[i] = a[i] + b[i];
    //< share
}
//< block

//> grid TODO:
// Version 3: each thread of the grid adds one element. The last block may
// have threads beyond the end of the vectors; those threads add nothing.
__global__ void add_grid(float *c, const float *a, const float *b, int n)
{
    //> one-element
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
    //< one-element
}
//< grid

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    //> empty
    if (n == 0)
        return;  // nothing to add
    //< empty

    //> allocate
    size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_c;
    CHECK(cudaMalloc(&device_a, bytes));
    CHECK(cudaMalloc(&device_b, bytes));
    CHECK(cudaMalloc(&device_c, bytes));
    //< allocate

    //> copy-in
    CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    //> second-input TODO: copy b to the device, as the line above copies a (1 line)
    CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));
    //< second-input
    //< copy-in

    //> launch
    //> versions TODO:
    int blocks = (n + THREADS - 1) / THREADS;  // rounded up
    if (VERSION == 3)
        add_grid<<<blocks, THREADS>>>(device_c, device_a, device_b, n);
    else if (VERSION == 2)
        add_block<<<1, THREADS>>>(device_c, device_a, device_b, n);
    else
    //< versions
    //> launch-lines TODO: launch add with 1 block of 1 thread, and check twice (3 lines)
        add<<<1, 1>>>(device_c, device_a, device_b, n);
    CHECK(cudaGetLastError());       // did the launch succeed?
    CHECK(cudaDeviceSynchronize());  // did the kernel run to its end?
    //< launch-lines
    //< launch

    //> copy-out
    //> answer TODO: copy the answer from the device to c (1 line)
    CHECK(cudaMemcpy(c, device_c, bytes, cudaMemcpyDeviceToHost));
    //< answer
    //< copy-out

    //> free
    CHECK(cudaFree(device_a));
    CHECK(cudaFree(device_b));
    CHECK(cudaFree(device_c));
    //< free
}
