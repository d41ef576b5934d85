// Lesson 11: keep some elements, in their order, and sort all of them, from the lowest bit up.
//
// For each element both ask the same: how many elements go before it? Votes answer this within a warp, and sums answer it
// for warps and tiles.
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

// Returns the sum of x over the threads before this one in the block, and
// stores the sum over all threads in *all, as in lesson 9. All threads of
// the block must call it together.
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
    __syncthreads();  // of_warp is free: the call before has been read
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

// Returns how many threads before this one in the block say yes. All
// threads of the block must call it together.
__device__ int block_rank(bool yes)
{
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes = __ballot_sync(ALL, yes);  // bit l is lane l's vote

    if (lane == 0)
        of_warp[warp] = __popc(votes);
    // TODO: wait until all warps have stored, and count the votes of the lanes below this one (2 lines)
    int before = 0;
    for (int w = 0; w < warp; w++)
        before += of_warp[w];
    return before;
}

// A test is asked about each element, which is a word of 32 bits here.
struct Above {
    int limit;
    __device__ bool operator()(unsigned x) const { return (int)x > limit; }
};

enum Kind { UNSIGNED, INT, FLOAT };

// Turns x into a word whose order, as an unsigned number, is that of x.
template <Kind KIND>
__device__ unsigned order(unsigned x)
{
    // TODO: turn bits of x if KIND == INT, and if KIND == FLOAT (4 lines)
    return x;
}

template <Kind KIND>
struct Zero {
    int bit;
    __device__ bool operator()(unsigned x) const { return !(order<KIND>(x) >> bit & 1); }
};

// First launch: counts for how many elements of each tile (of THREADS
// elements) the test says yes.
template <typename Test>
__global__ void count_tiles(int *counts, const unsigned *in, int n,
                            Test test)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    int count = __syncthreads_count(i < n && test(in[i]));
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

// Second launch: each block scans a row of counts in place, so that each
// count becomes the sum of those before it. It stores the row's sum.
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

// Third launch: the place of an element that is kept is the number of
// elements before it that are kept.
template <typename Test>
__global__ void compact(unsigned *out, const unsigned *in, int n,
                        Test test, const int *counts)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    bool yes = i < n && test(x);
    int place = block_rank(yes);  // among the block's

    // TODO: add what the blocks before keep (1 line)
    if (yes)
        out[place] = x;
}

// Third launch of a sort: zeros go first, and ones follow them.
template <typename Test>
__global__ void split(unsigned *out, const unsigned *in, int n,
                      Test zero, const int *counts, const int *zeros)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    bool yes = i < n && zero(x);
    int place = counts[blockIdx.x] + block_rank(yes);  // zeros before it

    // TODO: place is right for a zero; for a one, make it the place after all zeros (2 lines)
    if (i < n)
        out[place] = x;
}

// For steps 1 and 2: digits of 8 bits, where a bit was the digit before.
// Thread t of a block is the thread of digit t.
enum {
    BITS = 8,
    RADIX = 1 << BITS,   // digits: as many as THREADS
    ROWS = 32,           // elements of a thread
    PART = 32 * ROWS,    // elements of a warp: ROWS rows of 32
    TILE = WARPS * PART  // elements of a block
};

struct Digit {
    int shift;
    unsigned mask;
};

// The lowest digit of the bits `first` to `end` - 1. `__host__ __device__`
// makes a function that both the CPU and the GPU can call.
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

// Where the thread's element of row 0 is in the tile.
__device__ int place_in_tile(void)
{
    return threadIdx.x / 32 * PART + threadIdx.x % 32;
}

// Loads the thread's elements of the tile that begins at `first`. The last
// tile ends past the end of `in`: there x gets `filler`, a word in the
// place of an element.
__device__ void load_tile(unsigned x[ROWS], const unsigned *in,
                          int first, int n, unsigned filler)
{
    int i = first + place_in_tile();

    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        x[r] = i + 32 * r < n ? in[i + 32 * r] : filler;
}

// The filler of a sort: no element is greater, so fillers stay last. The
// compiler computes a `constexpr` function whose arguments are constants.
template <Kind KIND>
__device__ constexpr unsigned greatest(void)
{
    return KIND == UNSIGNED ? ~0u : ~0u >> 1;
}

// Sets counts[w][b] to the number of elements of warp w with digit b, and
// returns the number of elements of the tile with digit t.
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

// Turns counts[w][t] into the place of warp w's first element with digit
// t. The block's first one has the place `place`.
__device__ void give_places(int counts[WARPS][RADIX], int place)
{
    for (int w = 0; w < WARPS; w++) {
        int count = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
}

// Returns which lanes of the warp have this lane's digit: of all lanes,
// bit by bit, those remain that vote as this lane does.
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

// Sorts by bits `first` to `end` - 1, one bit a pass. The last pass must
// write to `out`, so the passes write to `out` and `other` in turns.
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
