// expect: RACE
// at: before += of_warp[w];
// at: of_warp[warp] = __popc(votes);
// Adds up the warps' votes while some have yet to be stored.
#include "11-radix-sort.h"

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

enum { THREADS = 256, WARPS = THREADS / 32 };
const unsigned ALL = 0xffffffff;  // lanes

// The sum of x over the threads of the block before this one, and in
// *all over all of them: lesson 9's. All threads call it together.
__device__ int block_scan(int x, int *all)
{
    __shared__ int of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    int sum = x;
    for (int away = 1; away < 32; away *= 2) {
        int left = __shfl_up_sync(ALL, sum, away);
        if (lane >= away)
            sum += left;
    }
    __syncthreads();  // all have read what the call before left
    if (lane == 31)
        of_warp[warp] = sum;
    __syncthreads();

    int before = 0;
    *all = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        before += w < warp ? of_warp[w] : 0;
        *all += of_warp[w];
    }
    return before + sum - x;
}

// How many threads of the block before this one say yes? All threads
// call it together.
__device__ int block_rank(bool yes)
{
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes = __ballot_sync(ALL, yes);  // bit l is lane l's

    if (lane == 0)
        of_warp[warp] = __popc(votes);
    int before = __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        before += of_warp[w];
    return before;
}

// What the elements are asked. They are words of 32 bits to us.
struct Above {
    int limit;
    __device__ bool operator()(unsigned x) const { return (int)x > limit; }
};

enum Kind { UNSIGNED, INT, FLOAT };

// A word that compares, as an unsigned number, as x does, as what it is.
template <Kind KIND>
__device__ unsigned order(unsigned x)
{
    if (KIND == INT)
        return x ^ 0x80000000;
    if (KIND == FLOAT)
        return x >> 31 ? ~x : x ^ 0x80000000;
    return x;
}

template <Kind KIND>
struct Zero {
    int bit;
    __device__ bool operator()(unsigned x) const { return !(order<KIND>(x) >> bit & 1); }
};

// First launch: how many of each tile, THREADS elements, say yes?
template <typename Test>
__global__ void count_tiles(int *counts, const unsigned *in, int n,
                            Test test)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    int count = __syncthreads_count(i < n && test(in[i]));
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

// Second launch: each block scans a row of counts, in place, so that each
// is the sum of those before it, and stores the sum of all of them.
__global__ void scan_counts(int *counts, int *totals, int tiles)
{
    int *row = counts + blockIdx.x * tiles, carry = 0;

    for (int first = 0; first < tiles; first += blockDim.x) {
        int i = first + threadIdx.x, all;
        int before = block_scan(i < tiles ? row[i] : 0, &all);
        if (i < tiles)
            row[i] = carry + before;
        carry += all;
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = carry;
}

// Third launch: those that say yes go where the number of those before
// them says.
template <typename Test>
__global__ void compact(unsigned *out, const unsigned *in, int n,
                        Test test, const int *counts)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    bool yes = i < n && test(x);
    int place = block_rank(yes);  // among the block's

    place += counts[blockIdx.x];
    if (yes)
        out[place] = x;
}

// ... and in a sort the others go behind them.
template <typename Test>
__global__ void split(unsigned *out, const unsigned *in, int n,
                      Test zero, const int *counts, const int *zeros)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    bool yes = i < n && zero(x);
    int place = counts[blockIdx.x] + block_rank(yes);  // zeros before it

    if (!yes)
        place = *zeros + i - place;
    if (i < n)
        out[place] = x;
}

// Bits `first` to `end` - 1, one a pass. The last pass must write to `out`,
// so those before it write there and to `other` in turns.
template <Kind KIND>
static void sort(unsigned *out, const unsigned *in, int n, int first, int end,
                 void *scratch)
{
    unsigned *other = (unsigned *)scratch;
    int *counts = (int *)(other + n);

    int tiles = n / THREADS + 1;
    for (int bit = first; bit < end; bit++) {
        unsigned *to = (end - bit) % 2 ? out : other;
        Zero<KIND> zero = { bit };
        count_tiles<<<tiles, THREADS>>>(counts, in, n, zero);
        CHECK(cudaGetLastError());
        scan_counts<<<1, THREADS>>>(counts, counts + tiles, tiles);
        CHECK(cudaGetLastError());
        split<<<tiles, THREADS>>>(to, in, n, zero, counts, counts + tiles);
        CHECK(cudaGetLastError());
        in = to;
    }
}

extern "C" void keep_above(int *out, int *kept, const int *in, int n,
                           int limit, void *scratch)
{
    Above above = { limit };
    unsigned *to = (unsigned *)out;
    const unsigned *from = (const unsigned *)in;
    int *counts = (int *)scratch;

    int tiles = n / THREADS + 1;  // with no elements there is a tile, too
    count_tiles<<<tiles, THREADS>>>(counts, from, n, above);
    CHECK(cudaGetLastError());
    scan_counts<<<1, THREADS>>>(counts, kept, tiles);
    CHECK(cudaGetLastError());
    compact<<<tiles, THREADS>>>(to, from, n, above, counts);
    CHECK(cudaGetLastError());  // the caller synchronises
}

extern "C" void sort_u32(unsigned *out, const unsigned *in, int n, int first,
                         int end, void *scratch)
{
    sort<UNSIGNED>(out, in, n, first, end, scratch);
}

extern "C" void sort_i32(int *out, const int *in, int n, void *scratch)
{
    sort<INT>((unsigned *)out, (unsigned *)in, n, 0, 32, scratch);
}

extern "C" void sort_f32(float *out, const float *in, int n, void *scratch)
{
    sort<FLOAT>((unsigned *)out, (unsigned *)in, n, 0, 32, scratch);
}
