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

//> round
// A round of Philox: two products, whose halves change places.
__device__ uint4 philox_round(uint4 c, uint2 k)
{
    //> one-round TODO: the round, as the text draws it (4 lines)
    unsigned high0 = __umulhi(0xD2511F53, c.x), low0 = 0xD2511F53 * c.x;
    unsigned high1 = __umulhi(0xCD9E8D57, c.z), low1 = 0xCD9E8D57 * c.z;
    return make_uint4(high1 ^ c.y ^ k.x, low1,
                      high0 ^ c.w ^ k.y, low0);
    //| return c;
    //< one-round
}
//< round

//> ten
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
//< ten

__global__ void philox_kernel(uint4 *out, const uint4 *counter, const uint2 *key, int blocks)
{
    int b = blockIdx.x * THREADS + threadIdx.x;
    if (b < blocks)
        out[b] = philox_block(counter[b], key[b]);
}

//> inside
// Does the point lie inside the circle? The upper 23 bits of a word are
// a whole number of 2^-23, which a float holds exactly.
__device__ bool is_inside(unsigned word_x, unsigned word_y)
{
    float x = (word_x >> 9) * 0x1p-23f, y = (word_y >> 9) * 0x1p-23f;
    return x * x + y * y < 1;
}
//< inside

//> one-point
// Version 1: a thread for each point.
__global__ void hits_one(int *hits, int points, const unsigned *seed)
{
    unsigned p = blockIdx.x * THREADS + threadIdx.x;
    if (p >= points)
        return;
    //> throw TODO: throw point p, and if it is a hit, add 1 to *hits with atomicAdd (3 lines)
    uint4 w = philox_block(make_uint4(p / 2, 0, 0, 0), make_uint2(*seed, 0));
    if (p % 2 == 0 ? is_inside(w.x, w.y) : is_inside(w.z, w.w))
        atomicAdd(hits, 1);
    //< throw
}
//< one-point

//> registers TODO:
// Version 2: a thread throws points that are a whole grid apart, and
// counts its hits in a register. One addition for each warp is left.
__global__ void hits_registers(int *hits, int points, const unsigned *seed)
{
    int mine = 0;
    //> own-points
    unsigned threads = gridDim.x * THREADS;
    for (unsigned p = blockIdx.x * THREADS + threadIdx.x; p < points; p += threads) {
        uint4 w = philox_block(make_uint4(p / 2, 0, 0, 0), make_uint2(*seed, 0));
        mine += p % 2 == 0 ? is_inside(w.x, w.y) : is_inside(w.z, w.w);
    }
    //< own-points
    //> one-addition
    mine = __reduce_add_sync(0xffffffff, mine);  // the sum over the 32 lanes
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, mine);
    //< one-addition
}
//< registers

//> many TODO:
// Version 3: a thread takes blocks of words that are a whole grid apart.
// Each block has two points.
__global__ void hits_many(int *hits, int points, const unsigned *seed)
{
    int mine = 0;
    //> count
    unsigned threads = gridDim.x * THREADS;
    for (unsigned b = blockIdx.x * THREADS + threadIdx.x; b < (points + 1u) / 2; b += threads) {
        uint4 w = philox_block(make_uint4(b, 0, 0, 0), make_uint2(*seed, 0));
        mine += is_inside(w.x, w.y);
        if (2 * b + 1 < points)
            mine += is_inside(w.z, w.w);
    }
    //< count
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, mine);
}
//< many

//> bits TODO:
// 1 if the point is inside, else 0. A float from 1 to 2 is 0x3f800000 with
// 23 bits of fraction in it, so a word becomes such a float without being
// converted. And the sign of x x + y y - 1 is the answer, as a number.
__device__ int inside(unsigned word_x, unsigned word_y)
{
    float x = __uint_as_float(word_x >> 9 | 0x3f800000) - 1;
    float y = __uint_as_float(word_y >> 9 | 0x3f800000) - 1;
    return __float_as_uint(fmaf(x, x, fmaf(y, y, -1))) >> 31;
}
//< bits

//> gold TODO:
// Version 4: no conversions and no comparisons. And two blocks in a turn,
// whose rounds do not wait for each other. The last points, fewer than
// four, are one thread's.
__global__ void hits_gold(int *hits, int points, const unsigned *seed)
{
    unsigned thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
    unsigned fours = (unsigned)points / 4;
    uint2 key = make_uint2(*seed, 0);
    int mine = 0;

    for (unsigned q = thread; q < fours; q += threads) {
        uint4 v = philox_block(make_uint4(q, 0, 0, 0), key);
        uint4 w = philox_block(make_uint4(q + fours, 0, 0, 0), key);
        mine += inside(v.x, v.y) + inside(v.z, v.w) + inside(w.x, w.y) + inside(w.z, w.w);
    }
    if (thread == 0)
        for (unsigned p = fours * 4; p < points; p++) {
            uint4 w = philox_block(make_uint4(p / 2, 0, 0, 0), key);
            mine += p % 2 ? inside(w.z, w.w) : inside(w.x, w.y);
        }
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, mine);
}
//< gold

//> version TODO:
#ifndef VERSION
#define VERSION 4  // the kernel that `count_hits` launches
#endif
//< version

extern "C" void philox(unsigned *out, const unsigned *counter, const unsigned *key, int blocks)
{
    //> no-blocks
    if (blocks == 0)
        return;
    //< no-blocks
    philox_kernel<<<(blocks + THREADS - 1) / THREADS, THREADS>>>((uint4 *)out, (const uint4 *)counter,
                                                                 (const uint2 *)key, blocks);
    CHECK(cudaGetLastError());
}

extern "C" void count_hits(int *hits, int points, const unsigned *seed)
{
    //> clear
    CHECK(cudaMemsetAsync(hits, 0, sizeof *hits));
    //< clear
    //> no-points
    if (points == 0)
        return;
    //< no-points

    //> launch
    //> choice TODO:
    //| hits_one<<<points / THREADS + 1, THREADS>>>(hits, points, seed);
    //> blocks
    enum { BLOCKS = 1056 };  // enough to fill the device: 8 for each of 132 multiprocessors
    //< blocks
    if (VERSION == 1)
        hits_one<<<points / THREADS + 1, THREADS>>>(hits, points, seed);
    else if (VERSION == 2)
        hits_registers<<<BLOCKS, THREADS>>>(hits, points, seed);
    else if (VERSION == 3)
        hits_many<<<BLOCKS, THREADS>>>(hits, points, seed);
    else
        hits_gold<<<BLOCKS, THREADS>>>(hits, points, seed);
    //< choice
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}
