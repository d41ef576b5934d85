// expect: WRONG
// says: as many blocks of words as points
// Goes through a block for each point, and takes both points of each as long as there are any.
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

// One of Philox's rounds: two products, whose halves change places.
__device__ uint4 philox_round(uint4 c, uint2 k)
{
    unsigned high0 = __umulhi(0xD2511F53, c.x), low0 = 0xD2511F53 * c.x;
    unsigned high1 = __umulhi(0xCD9E8D57, c.z), low1 = 0xCD9E8D57 * c.z;
    return make_uint4(high1 ^ c.y ^ k.x, low1,
                      high0 ^ c.w ^ k.y, low0);
}

// Ten rounds, with a key that goes on from round to round.
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

// Version 1: a thread for each point, and an atomic addition for each
// that hits.
__global__ void hits_naive(int *hits, int points, unsigned seed)
{
    unsigned p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= points)
        return;
    uint4 w = philox_block(make_uint4(p / 2, 0, 0, 0), make_uint2(seed, 0));
    if (p % 2 == 0 ? is_inside(w.x, w.y) : is_inside(w.z, w.w))
        atomicAdd(hits, 1);
}

// Version 2: a thread takes every threads-th block of words, two points
// each, and counts in a register. One addition for each warp is left.
__global__ void hits_many(int *hits, int points, unsigned seed)
{
    int mine = 0;
    unsigned threads = gridDim.x * THREADS;
    for (unsigned b = blockIdx.x * THREADS + threadIdx.x; b < points; b += threads) {
        uint4 w = philox_block(make_uint4(b, 0, 0, 0), make_uint2(seed, 0));
        mine += is_inside(w.x, w.y);
        if (2 * b + 1 < points)
            mine += is_inside(w.z, w.w);
    }
    mine = __reduce_add_sync(0xffffffff, mine);  // the sum of the 32 lanes'
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, mine);
}

extern "C" void philox(unsigned *out, const unsigned *counter, const unsigned *key, int blocks)
{
    if (blocks == 0)
        return;
    philox_kernel<<<(blocks + THREADS - 1) / THREADS, THREADS>>>((uint4 *)out, (const uint4 *)counter,
                                                                 (const uint2 *)key, blocks);
    CHECK(cudaGetLastError());
}

extern "C" void count_hits(int *hits, int points, unsigned seed)
{
    CHECK(cudaMemsetAsync(hits, 0, sizeof *hits));
    if (points == 0)
        return;

    enum { BLOCKS = 1056 };  // enough to fill the device: 8 for each of 132 multiprocessors
    hits_many<<<BLOCKS, THREADS>>>(hits, points, seed);
    CHECK(cudaGetLastError());  // the caller synchronises
}
