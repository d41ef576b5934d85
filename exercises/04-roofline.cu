// Lesson 4: how fast memory is, how fast arithmetic is, and which of the two a kernel waits for.
//
// copy_rate measures copies: one to warm up, then many between two events. The degree of `polynomial` says how much
// arithmetic it has; its memory traffic is the same for every degree.
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

enum { THREADS = 128 };  // threads in a block

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
    // TODO: one copy to warm up; then the copies, between two events; wait, and ask for the time (7 lines)
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    release(to, destination);
    release(from, source);
    // TODO: the rate in MB/s, from bytes, repeats and milliseconds (1 line)
    return milliseconds;
}

// Version 1: the formula as it stands, two instructions for each coefficient.
__global__ void powers(float *out, const float *in, const float *c,
                       int degree, int n)
{
    // TODO: this thread's element: a sum, and a power that grows (9 lines)
}

// Steps 1 and 2: each thread evaluates four elements.
__global__ void four(float4 *out, const float4 *in, const float *c,
                     int degree, int fours)
{
    // Step 1 goes here. `polynomial` says when this kernel is launched.
}

static int blocks_for(int n)
{
    return n / THREADS + (n % THREADS > 0);
}

extern "C" void polynomial(float *out, const float *in, const float *c, int degree, int n)
{
    int fours = 0;  // step 1: n / 4, so that `four` evaluates all but the last n % 4 elements
    int done = 4 * fours;

    if (fours > 0) {
        four<<<blocks_for(fours), THREADS>>>((float4 *)out, (const float4 *)in, c, degree, fours);
        CHECK(cudaGetLastError());
    }
    if (done < n) {
        powers<<<blocks_for(n - done), THREADS>>>(out + done, in + done, c, degree, n - done);
        CHECK(cudaGetLastError());  // the caller synchronises
    }
}
