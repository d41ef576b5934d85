// expect: SLOW
// at: sum = sum * x + c[k];
// says: all in float
// Computes in double: each coefficient is converted, and a pipe for doubles multiplies.
#include "04-roofline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 256 };  // threads in a block

// Memory of a kind, all bytes 0.
static void *allocate(int kind, size_t bytes)
{
    void *p = NULL;
    if (kind == DEVICE) {
        CHECK(cudaMalloc(&p, bytes));
        CHECK(cudaMemset(p, 0, bytes));
    } else if (kind == PINNED) {
        CHECK(cudaMallocHost(&p, bytes));
    } else if (!(p = malloc(bytes))) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(EXIT_FAILURE);
    }
    if (kind != DEVICE)
        memset(p, 0, bytes);
    return p;
}

static void release(int kind, void *p)
{
    if (kind == DEVICE)
        CHECK(cudaFree(p));
    else if (kind == PINNED)
        CHECK(cudaFreeHost(p));
    else
        free(p);
}

extern "C" int copy_rate(int to, int from, int bytes, int repeats)
{
    void *destination = allocate(to, bytes), *source = allocate(from, bytes);
    cudaEvent_t start, stop;
    float milliseconds = 0;

    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault));
    CHECK(cudaEventRecord(start));
    for (int r = 0; r < repeats; r++)
        CHECK(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault));
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    release(to, destination);
    release(from, source);
    return (double)bytes * repeats / (milliseconds * 1e-3) / 1e6;
}

// Version 1: the formula as it stands. Two operations for each coefficient.
__global__ void sum_of_powers(float *out, const float *in, const float *c, int degree, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], power = 1, sum = 0;
    for (int k = 0; k <= degree; k++) {
        sum += c[k] * power;
        power *= x;
    }
    out[i] = sum;
}

// Version 2: Horner's rule, ((c[3] x + c[2]) x + c[1]) x + c[0]. One operation for each coefficient.
__global__ void horner(float *out, const float *in, const float *c, int degree, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    double x = in[i], sum = c[degree];
    for (int k = degree - 1; k >= 0; k--)
        sum = sum * x + c[k];
    out[i] = sum;
}

static int blocks_for(int n)
{
    return n / THREADS + (n % THREADS > 0);
}

extern "C" void polynomial(float *out, const float *in, const float *c, int degree, int n)
{
    if (n == 0)
        return;
    horner<<<blocks_for(n), THREADS>>>(out, in, c, degree, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
