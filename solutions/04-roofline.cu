// Lesson 4: how fast memory is, how fast arithmetic is, and which of the two a kernel waits for.
//
// copy_rate measures copies: one to warm up, then many between two events. The degree of `polynomial` says how much
// arithmetic it has; its memory traffic is the same for every degree.
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

enum { THREADS = 128 };  // threads in a block

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
// Version 1: the formula as it stands, two instructions for each coefficient.
__global__ void powers(float *out, const float *in, const float *c,
                       int degree, int n)
{
    //> add TODO: this thread's element: a sum, and a power that grows (9 lines)
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], power = 1, sum = 0;
    for (int k = 0; k <= degree; k++) {
        sum += c[k] * power;
        power *= x;
    }
    out[i] = sum;
    //< add
}
//< powers

//> horner TODO:
// Version 2: Horner's rule, ((c[3] x + c[2]) x + c[1]) x + c[0]. One FMA for
// each coefficient.
__global__ void horner(float *out, const float *in, const float *c,
                       int degree, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], sum = c[degree];
    for (int k = degree - 1; k >= 0; k--)
        sum = sum * x + c[k];
    out[i] = sum;
}
//< horner

//> kernels TODO:
//| // Steps 1 and 2: each thread evaluates four elements.
//| __global__ void four(float4 *out, const float4 *in, const float *c,
//|                      int degree, int fours)
//| {
//|     // Step 1 goes here. `polynomial` says when this kernel is launched.
//| }
//> powers-four
// Version 3: four elements a thread. A coefficient is loaded once for the four.
__global__ void powers_four(float4 *out, const float4 *in, const float *c,
                            int degree, int fours)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= fours)
        return;
    float4 x = in[i];
    float4 power = make_float4(1, 1, 1, 1), sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k <= degree; k++) {
        float ck = c[k];
        sum.x += ck * power.x, power.x *= x.x;
        sum.y += ck * power.y, power.y *= x.y;
        sum.z += ck * power.z, power.z *= x.z;
        sum.w += ck * power.w, power.w *= x.w;
    }
    out[i] = sum;
}
//< powers-four

//> horner-four
// One step of Horner's rule, for four elements.
__device__ float4 horner_step(float4 sum, float4 x, float ck)
{
    return make_float4(sum.x * x.x + ck, sum.y * x.y + ck,
                       sum.z * x.z + ck, sum.w * x.w + ck);
}

// Version 4: Horner's rule, four elements a thread.
__global__ void horner_four(float4 *out, const float4 *in, const float *c,
                            int degree, int fours)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= fours)
        return;
    float4 x = in[i];
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = degree; k >= 0; k--)
        sum = horner_step(sum, x, c[k]);
    out[i] = sum;
}
//< horner-four

//> horner-eight
// Version 5: eight elements a thread, and four coefficients a load. Half of the
// elements are in the second half of the array.
__global__ void horner_eight(float4 *out, const float4 *in, const float *c,
                             int degree, int half)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= half)
        return;
    float4 x = in[i], y = in[i + half];
    float4 sum = make_float4(0, 0, 0, 0), other = sum;
    int k = degree;
    for (; k % 4 != 3 && k >= 0; k--) {  // down to a multiple of four coefficients
        sum = horner_step(sum, x, c[k]);
        other = horner_step(other, y, c[k]);
    }
    #pragma unroll 2
    for (; k >= 0; k -= 4) {
        float4 c4 = *(const float4 *)&c[k - 3];
        sum = horner_step(horner_step(sum, x, c4.w), x, c4.z);
        sum = horner_step(horner_step(sum, x, c4.y), x, c4.x);
        other = horner_step(horner_step(other, y, c4.w), y, c4.z);
        other = horner_step(horner_step(other, y, c4.y), y, c4.x);
    }
    out[i] = sum;
    out[i + half] = other;
}
//< horner-eight
//< kernels

static int blocks_for(int n)
{
    return n / THREADS + (n % THREADS > 0);
}

//> version TODO:
#ifndef VERSION
#define VERSION 5  // which of the kernels `polynomial` launches
#endif
//< version

extern "C" void polynomial(float *out, const float *in, const float *c, int degree, int n)
{
    //> choice TODO:
    //| int fours = 0;  // step 1: n / 4, so that `four` evaluates all but the last n % 4 elements
    //| int done = 4 * fours;
    auto one = VERSION == 2 ? horner : powers;
    auto many = VERSION == 3 ? powers_four : VERSION == 4 ? horner_four : horner_eight;
    int each = VERSION < 3 ? 1 : VERSION == 5 ? 8 : 4;  // elements a thread
    int threads = each > 1 ? n / each : 0, done = each * threads;
    //< choice

    //> launches
    //> many TODO:
    //| if (fours > 0) {
    //|     four<<<blocks_for(fours), THREADS>>>((float4 *)out, (const float4 *)in, c, degree, fours);
    if (threads > 0) {
        many<<<blocks_for(threads), THREADS>>>((float4 *)out, (const float4 *)in, c, degree, threads);
        //< many
        CHECK(cudaGetLastError());
    }
    if (done < n) {
        //> rest TODO:
        //| powers<<<blocks_for(n - done), THREADS>>>(out + done, in + done, c, degree, n - done);
        one<<<blocks_for(n - done), THREADS>>>(out + done, in + done, c, degree, n - done);
        //< rest
        CHECK(cudaGetLastError());  // the caller synchronises
    }
    //< launches
}
