// Lesson 12: count how many random points lie inside a quarter circle.
//
// A generator that carries a state from number to number makes threads wait for each other, or needs a state for each
// thread. A counter-based generator has no state: number i is a function of i, and any thread can compute any number.
#include "12-monte-carlo.h"

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

enum { THREADS = 256 };  // threads in a block

// A round of Philox: two products, whose halves change places.
__device__ uint4 philox_round(uint4 c, uint2 k)
{
    // TODO: the round, as the text draws it (4 lines)
    return c;
}

// Ten rounds, with a key that changes from round to round.
__device__ uint4 philox_block(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        c = philox_round(c, k);
        k.x += 0x9E3779B9;
        k.y += 0xBB67AE85;
    }
    return c;
}

__global__ void philox_kernel(uint4 *out, const uint4 *counter, const uint2 *key, int blocks)
{
    int b = blockIdx.x * THREADS + threadIdx.x;
    if (b < blocks)
        out[b] = philox_block(counter[b], key[b]);
}

// Does the point lie inside the circle? The upper 23 bits of a word are
// a whole number of 2^-23, which a float holds exactly.
__device__ bool is_inside(unsigned word_x, unsigned word_y)
{
    float x = (word_x >> 9) * 0x1p-23f, y = (word_y >> 9) * 0x1p-23f;
    return x * x + y * y < 1;
}

// Version 1: a thread for each point.
__global__ void hits_one(int *hits, int points, const unsigned *seed)
{
    unsigned p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= points)
        return;
    // TODO: throw point p, and if it is a hit, add 1 to *hits with atomicAdd (3 lines)
}

extern "C" void philox(unsigned *out, const unsigned *counter, const unsigned *key, int blocks)
{
    if (blocks == 0)
        return;
    philox_kernel<<<(blocks + THREADS - 1) / THREADS, THREADS>>>((uint4 *)out, (const uint4 *)counter,
                                                                 (const uint2 *)key, blocks);
    CHECK(cudaGetLastError());
}

extern "C" void count_hits(int *hits, int points, const unsigned *seed)
{
    CHECK(cudaMemsetAsync(hits, 0, sizeof *hits));
    if (points == 0)
        return;

    hits_one<<<points / THREADS + 1, THREADS>>>(hits, points, seed);
    CHECK(cudaGetLastError());  // the caller synchronises
}
