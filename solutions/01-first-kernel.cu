// Lesson 1: add two vectors, one GPU thread for each element.
//
// The host copies a and b to the device, launches the kernel there, and copies c back.
#include "01-first-kernel.h"

//> includes
#include <stdio.h>
#include <stdlib.h>
//< includes

//> check
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
//< check

//> threads
enum { THREADS = 256 };  // threads in a block: a multiple of 32, the size of a warp
//< threads

//> kernel
// Runs once in each thread of the grid. Threads of the last block that lie
// beyond the end of the vectors have nothing to add.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    //> one-element TODO: compute the thread's index; below n, add its element (3 lines)
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
    //< one-element
}
//< kernel

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    //> empty
    if (n == 0)
        return;  // a grid of no blocks is an error
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
    //> second-input TODO: copy b to the device, as the line above does with a (1 line)
    CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));
    //< second-input
    //< copy-in

    //> launch
    //> launch-lines TODO: count the blocks, launch, check the launch and its end (4 lines)
    int blocks = (n + THREADS - 1) / THREADS;  // rounded up
    add<<<blocks, THREADS>>>(device_c, device_a, device_b, n);
    CHECK(cudaGetLastError());       // could it be launched?
    CHECK(cudaDeviceSynchronize());  // did it run to its end?
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
