// expect: MEMORY
// at: atomicAdd(&counts[warp][digit_of<KIND>(x[r], d)], 1);
// at: x[r] = i + 32 * r < n ? in[i + 32 * r] : greatest;
// says: memory that nothing wrote
// Fills up the last tile with the greatest element, and never stores that.
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
    __syncthreads();
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

// Digits of 8 bits instead of 1. Thread t is digit t's.
enum {
    BITS = 8,
    RADIX = 1 << BITS,  // as many as THREADS
    ROWS = 32,          // elements of a thread
    PART = 32 * ROWS,   // elements of a warp: ROWS rows of 32
    TILE = WARPS * PART,
};

struct Digit {
    int shift;
    unsigned mask;
};

// The lowest digit of the bits `first` to `end` - 1.
__host__ __device__ Digit digit_from(int first, int end)
{
    int bits = end - first < BITS ? end - first : BITS;
    Digit d = { first, (1u << bits) - 1 };
    return d;
}

template <Kind KIND>
__device__ unsigned digit_of(unsigned x, Digit d)
{
    return order<KIND>(x) >> d.shift & d.mask;
}

// Where in the tile the thread's element of row 0 is.
__device__ int place_in_tile(void)
{
    return threadIdx.x / 32 * PART + threadIdx.x % 32;
}

// The tile that begins at `first`. Behind the end of `in` it is filled up
// with elements that no other is greater than: they stay the last.
template <Kind KIND>
__device__ void load_tile(unsigned x[ROWS], const unsigned *in,
                          int first, int n)
{
    const unsigned greatest = KIND == UNSIGNED ? ~0u : ~0u >> 1;
    int i = first + place_in_tile();

    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        x[r] = i + 32 * r < n ? in[i + 32 * r] : greatest;
}

// counts[w][b] is how many elements of warp w have digit b; returned is
// how many of the tile have digit t.
template <Kind KIND>
__device__ int count_tile(int counts[WARPS][RADIX],
                          const unsigned x[ROWS], Digit d)
{
    int t = threadIdx.x, lane = t % 32, warp = t / 32, sum = 0;

    for (int b = lane; b < RADIX; b += 32)
        counts[warp][b] = 0;
    __syncwarp();
    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        atomicAdd(&counts[warp][digit_of<KIND>(x[r], d)], 1);
    __syncthreads();
    for (int w = 0; w < WARPS; w++)
        sum += counts[w][t];
    return sum;
}

// Digit t's elements get the places from `place` on, those of warp 0
// first: counts become the place of each warp's first one.
__device__ void give_places(int counts[WARPS][RADIX], int place)
{
    for (int w = 0; w < WARPS; w++) {
        int count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
}

// The lanes of the warp whose digit is this lane's: bit by bit, those
// remain that vote the same.
__device__ unsigned same_digit(unsigned digit)
{
    unsigned same = ALL;

    #pragma unroll
    for (int b = 0; b < BITS; b++) {
        int top = digit << (31 - b);  // bit b, as the sign
        unsigned ones = __ballot_sync(ALL, top < 0);
        same &= ~(ones ^ top >> 31);  // top >> 31 is -1 or 0
    }
    return same;
}

// The place of this lane's element; the warp's next one with that digit
// gets the place after the last of its like in this row.
__device__ int take_place(int places[RADIX], unsigned digit)
{
    unsigned same = same_digit(digit);
    int before = __popc(same & ((1u << threadIdx.x % 32) - 1));
    int place = places[digit] + before;

    __syncwarp();  // all have read
    if (before == 0)
        places[digit] = place + __popc(same);
    __syncwarp();
    return place;
}

// First launch of a pass; scan_counts is the second.
template <Kind KIND>
__global__ void count_digits(int *counts, const unsigned *in, int n,
                             Digit d)
{
    __shared__ int of_warps[WARPS][RADIX];
    unsigned x[ROWS];

    load_tile<KIND>(x, in, blockIdx.x * TILE, n);
    int count = count_tile<KIND>(of_warps, x, d);
    counts[threadIdx.x * gridDim.x + blockIdx.x] = count;
}

// The tile is sorted in shared memory first. There lie in a
// row what goes to neighbouring places of `out`.
template <Kind KIND>
__device__ void sort_tile(unsigned sorted[TILE], const unsigned x[ROWS],
                          int places[WARPS][RADIX], Digit d)
{
    int warp = threadIdx.x / 32;

    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        sorted[take_place(places[warp], digit_of<KIND>(x[r], d))] = x[r];
    __syncthreads();
}

// Element i of the tile goes to to[digit] + i.
template <Kind KIND>
__device__ void store_tile(unsigned *out, const unsigned sorted[TILE],
                           const int to[RADIX], Digit d)
{
    #pragma unroll 8
    for (int i = threadIdx.x; i < TILE; i += THREADS) {
        unsigned x = sorted[i];
        if (order<KIND>(x) != 0xffffffff)
            out[to[digit_of<KIND>(x, d)] + i] = x;
    }
}

template <Kind KIND>
__global__ void scatter_sorted(unsigned *out, const unsigned *in, int n,
                               Digit d, const int *counts,
                               const int *totals)
{
    __shared__ int places[WARPS][RADIX], to[RADIX];
    __shared__ unsigned sorted[TILE];
    int t = threadIdx.x, first = blockIdx.x * TILE, all;
    unsigned x[ROWS];

    load_tile<KIND>(x, in, first, n);
    int start = block_scan(count_tile<KIND>(places, x, d), &all);
    int smaller = block_scan(totals[t], &all);
    to[t] = smaller + counts[t * gridDim.x + blockIdx.x] - start;
    give_places(places, start);
    sort_tile<KIND>(sorted, x, places, d);
    store_tile<KIND>(out, sorted, to, d);
}

// A digit a pass: count, scan and scatter.
template <Kind KIND>
static void sort_digits(unsigned *out, const unsigned *in, int n, int first,
                        int end, unsigned *other, int *totals)
{
    int tiles = n / TILE + 1;
    int *rows = totals + RADIX;

    for (int at = first; at < end; at += BITS) {
        unsigned *to = (end - at - 1) / BITS % 2 ? other : out;
        Digit d = digit_from(at, end);
        count_digits<KIND><<<tiles, THREADS>>>(rows, in, n, d);
        CHECK(cudaGetLastError());
        scan_counts<<<RADIX, THREADS>>>(rows, totals, tiles);
        CHECK(cudaGetLastError());
        scatter_sorted<KIND><<<tiles, THREADS>>>(to, in, n, d, rows, totals);
        CHECK(cudaGetLastError());
        in = to;
    }
}

// Bits `first` to `end` - 1, one a pass. The last pass must write to `out`,
// so those before it write there and to `other` in turns.
template <Kind KIND>
static void sort(unsigned *out, const unsigned *in, int n, int first, int end,
                 void *scratch)
{
    unsigned *other = (unsigned *)scratch;
    int *counts = (int *)(other + n);

    sort_digits<KIND>(out, in, n, first, end, other, counts);
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
