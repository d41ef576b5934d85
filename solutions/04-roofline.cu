// Lesson 4: how fast memory is, how fast arithmetic is, and which of the two a kernel waits for.
//
// copy_rate measures as one measures on a GPU: once to warm up, then many times between two events. polynomial has
// as much arithmetic as its degree says, and the same memory traffic whatever that is.
#include "04-roofline.h"

//> includes
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
//< includes

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

//> memory
// Memory of a kind, all bytes 0.
static void *allocate(int kind, size_t bytes)
{
    void *p = NULL;
    if (kind == DEVICE) {
        CHECK(cudaMalloc(&p, bytes));
        CHECK(cudaMemset(p, 0, bytes));
    //> allocate-pinned
    } else if (kind == PINNED) {
        CHECK(cudaMallocHost(&p, bytes));
    //< allocate-pinned
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
    //> release-pinned
    else if (kind == PINNED)
        CHECK(cudaFreeHost(p));
    //< release-pinned
    else
        free(p);
}
//< memory

//> measure
extern "C" int copy_rate(int to, int from, int bytes, int repeats)
{
    void *destination = allocate(to, bytes), *source = allocate(from, bytes);
    cudaEvent_t start, stop;
    float milliseconds = 0;

    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    //> time TODO: one copy to warm up; then the copies, between two events; wait, and ask for the time (7 lines)
    CHECK(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault));
    CHECK(cudaEventRecord(start));
    for (int r = 0; r < repeats; r++)
        CHECK(cudaMemcpy(destination, source, bytes, cudaMemcpyDefault));
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    //< time
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    release(to, destination);
    release(from, source);
    //> rate TODO: the rate in MB/s, from bytes, repeats and milliseconds (1 line)
    //| return milliseconds;
    return (double)bytes * repeats / (milliseconds * 1e-3) / 1e6;
    //< rate
}
//< measure

//> powers
// Version 1: the formula as it stands. Two operations for each coefficient.
__global__ void sum_of_powers(float *out, const float *in, const float *c,
                              int degree, int n)
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
//< powers

//> horner
// Version 2: Horner's rule, ((c[3] x + c[2]) x + c[1]) x + c[0]. One operation
// for each coefficient.
__global__ void horner(float *out, const float *in, const float *c,
                       int degree, int n)
{
    //> nest TODO: this thread's element, by Horner's rule (8 lines)
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], sum = c[degree];
    for (int k = degree - 1; k >= 0; k--)
        sum = sum * x + c[k];
    out[i] = sum;
    //< nest
}
//< horner

//> four TODO:
// Version 3: four elements a thread. A coefficient is loaded once for the four,
// whose chains of operations do not wait for each other.
__global__ void horner_four(float4 *out, const float4 *in, const float *c,
                            int degree, int fours)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= fours)
        return;
    float4 x = in[i];
    float last = c[degree];
    float4 sum = make_float4(last, last, last, last);
    #pragma unroll 8
    for (int k = degree - 1; k >= 0; k--) {
        float ck = c[k];
        sum.x = sum.x * x.x + ck;
        sum.y = sum.y * x.y + ck;
        sum.z = sum.z * x.z + ck;
        sum.w = sum.w * x.w + ck;
    }
    out[i] = sum;
}
//< four

static int blocks_for(int n)
{
    return n / THREADS + (n % THREADS > 0);
}

//> version TODO:
#ifndef VERSION
#define VERSION 3  // which of the kernels `polynomial` launches
#endif
//< version

extern "C" void polynomial(float *out, const float *in, const float *c, int degree, int n)
{
    if (n == 0)
        return;
    //> choice TODO:
    //| horner<<<blocks_for(n), THREADS>>>(out, in, c, degree, n);
    int fours = VERSION >= 3 ? n / 4 : 0, done = 4 * fours;
    auto kernel = VERSION == 1 ? sum_of_powers : horner;
    if (fours > 0) {
        horner_four<<<blocks_for(fours), THREADS>>>((float4 *)out, (const float4 *)in, c, degree, fours);
        CHECK(cudaGetLastError());
    }
    if (done < n)
        kernel<<<blocks_for(n - done), THREADS>>>(out + done, in + done, c, degree, n - done);
    //< choice
    CHECK(cudaGetLastError());  // the caller synchronises
}
