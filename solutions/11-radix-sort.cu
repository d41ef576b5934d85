// Lesson 11: keep some elements, in their order, and sort all of them, from the lowest bit up.
//
// For each element both ask the same: how many elements go before it? Votes answer this within a warp, and sums answer it
// for warps and tiles.
#include "11-radix-sort.h"

//> atomic TODO:
#include <cuda/atomic>
//< atomic
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

//> version TODO:
#ifndef VERSION
#define VERSION 4  // what is launched
#endif
//< version

//> block-scan
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
//< block-scan

//> block-rank
// Returns how many threads before this one in the block say yes. All
// threads of the block must call it together.
__device__ int block_rank(bool yes)
{
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes = __ballot_sync(ALL, yes);  // bit l is lane l's vote

    if (lane == 0)
        of_warp[warp] = __popc(votes);
    //> rank TODO: wait until all warps have stored, and count the votes of the lanes below this one (2 lines)
    //| int before = 0;
    __syncthreads();
    int before = __popc(votes & ((1u << lane) - 1));
    //< rank
    for (int w = 0; w < warp; w++)
        before += of_warp[w];
    return before;
}
//< block-rank

//> tests
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
    //> order TODO: turn bits of x if KIND == INT, and if KIND == FLOAT (4 lines)
    if (KIND == INT)
        return x ^ 0x80000000;
    if (KIND == FLOAT)
        return x >> 31 ? ~x : x ^ 0x80000000;
    //< order
    return x;
}

template <Kind KIND>
struct Zero {
    int bit;
    __device__ bool operator()(unsigned x) const { return !(order<KIND>(x) >> bit & 1); }
};
//< tests

//> count
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
//< count

//> compact
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

    //> place TODO: add what the blocks before keep (1 line)
    place += counts[blockIdx.x];
    //< place
    if (yes)
        out[place] = x;
}
//< compact

//> split
// Third launch of a sort: zeros go first, and ones follow them.
template <typename Test>
__global__ void split(unsigned *out, const unsigned *in, int n,
                      Test zero, const int *counts, const int *zeros)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    bool yes = i < n && zero(x);
    int place = counts[blockIdx.x] + block_rank(yes);  // zeros before it

    //> both TODO: place is right for a zero; for a one, make it the place after all zeros (2 lines)
    if (!yes)
        place = *zeros + i - place;
    //< both
    if (i < n)
        out[place] = x;
}
//< split

//> digits
// For steps 1 and 2: digits of 8 bits, where a bit was the digit before.
// Thread t of a block is the thread of digit t.
//> tile-size
enum {
    BITS = 8,
    RADIX = 1 << BITS,   // digits: as many as THREADS
    ROWS = 32,           // elements of a thread
    PART = 32 * ROWS,    // elements of a warp: ROWS rows of 32
    TILE = WARPS * PART  // elements of a block
};
//< tile-size

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
//< digits

//> part
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

//> same
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
//< same
//< part

//> take TODO:
// Returns the place of this lane's element. The warp's next element with
// that digit, in a later row, gets the place after this row's last one.
__device__ int take_place(int places[RADIX], unsigned digit)
{
    unsigned same = same_digit(digit);
    int before = __popc(same & ((1u << threadIdx.x % 32) - 1));
    int place = places[digit] + before;

    __syncwarp();  // all lanes have read `places`
    if (before == 0)
        places[digit] = place + __popc(same);
    __syncwarp();
    return place;
}
//< take

//> kept TODO:
// Versions 2 and 3 keep elements by such tiles, too. The filler is a word
// that no limit keeps.
const unsigned LEAST = 0x80000000;  // INT_MIN

// Returns how many elements the warps before this one keep, and sets *all
// to how many the tile keeps.
__device__ int kept_before(const unsigned x[ROWS], Above above, int *all)
{
    int mine = 0;

    #pragma unroll
    for (int r = 0; r < ROWS; r++)
        mine += above(x[r]);
    return __shfl_sync(ALL, block_scan(mine, all), 0);  // lane 0's sum
}

// Stores the warp's elements that are kept, from out[place] on.
__device__ void store_kept(unsigned *out, const unsigned x[ROWS],
                           Above above, int place)
{
    unsigned lower = (1u << threadIdx.x % 32) - 1;

    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned votes = __ballot_sync(ALL, above(x[r]));
        if (above(x[r]))
            out[place + __popc(votes & lower)] = x[r];
        place += __popc(votes);
    }
}

// The first launch, and below it the third. scan_counts is the second.
__global__ void count_kept(int *counts, const unsigned *in, int n,
                           Above above)
{
    unsigned x[ROWS];
    int all;

    load_tile(x, in, blockIdx.x * TILE, n, LEAST);
    kept_before(x, above, &all);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = all;
}

__global__ void compact_tiles(unsigned *out, const unsigned *in, int n,
                              Above above, const int *counts)
{
    unsigned x[ROWS];
    int all;

    load_tile(x, in, blockIdx.x * TILE, n, LEAST);
    int before = kept_before(x, above, &all);
    store_kept(out, x, above, counts[blockIdx.x] + before);
}
//< kept

//> count-digits TODO:
// Version 2. First launch of a pass; scan_counts is the second.
template <Kind KIND>
__global__ void count_digits(int *counts, const unsigned *in, int n,
                             Digit d)
{
    __shared__ int of_warps[WARPS][RADIX];
    unsigned x[ROWS];

    load_tile(x, in, blockIdx.x * TILE, n, greatest<KIND>());
    int count = count_tile<KIND>(of_warps, x, d);
    counts[threadIdx.x * gridDim.x + blockIdx.x] = count;
}

//< count-digits

//> scatter TODO:
// Third launch. counts[b][tile] is how many elements with digit b are in
// the tiles before this one, and totals[b] how many are in all tiles.
template <Kind KIND>
__global__ void scatter(unsigned *out, const unsigned *in, int n, Digit d,
                        const int *counts, const int *totals)
{
    __shared__ int places[WARPS][RADIX];
    int t = threadIdx.x, first = blockIdx.x * TILE, all;
    unsigned x[ROWS];

    load_tile(x, in, first, n, greatest<KIND>());
    count_tile<KIND>(places, x, d);
    int smaller = block_scan(totals[t], &all);  // with smaller digits
    give_places(places, smaller + counts[t * gridDim.x + blockIdx.x]);

    //> rows
    #pragma unroll
    for (int r = 0; r < ROWS; r++) {
        int to = take_place(places[t / 32], digit_of<KIND>(x[r], d));
        if (first + place_in_tile() + 32 * r < n)
            out[to] = x[r];
    }
    //< rows
}
//< scatter

//> staged TODO:
// Version 3: the block sorts its tile in shared memory first. Elements
// that go to neighbouring places of `out` are neighbours there.
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
                           const int to[RADIX], int count, Digit d)
{
    //> store-own
    #pragma unroll 8
    for (int i = threadIdx.x; i < count; i += THREADS) {
        unsigned x = sorted[i];
        out[to[digit_of<KIND>(x, d)] + i] = x;
    }
    //< store-own
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

    load_tile(x, in, first, n, greatest<KIND>());
    int start = block_scan(count_tile<KIND>(places, x, d), &all);
    int smaller = block_scan(totals[t], &all);
    to[t] = smaller + counts[t * gridDim.x + blockIdx.x] - start;
    give_places(places, start);
    sort_tile<KIND>(sorted, x, places, d);
    store_tile<KIND>(out, sorted, to, min(n - first, (int)TILE), d);
}
//< staged

//> status TODO:
// Version 4: what a tile tells the others, in one word.
enum State {
    EMPTY,   // nothing yet
    SUM,     // how many elements the tile has
    PREFIX,  // how many the tile and all tiles before it have
};
typedef cuda::atomic_ref<unsigned, cuda::thread_scope_device> Status;

__device__ void tell(unsigned *word, State state, int count)
{
    unsigned w = (unsigned)state << 30 | count;
    Status(*word).store(w, cuda::memory_order_relaxed);
}

__device__ State ask(unsigned *word, int *count)
{
    unsigned w = Status(*word).load(cuda::memory_order_relaxed);
    *count = w & 0x3fffffff;
    return (State)(w >> 30);
}

// Draws a ticket for the block. Blocks that wait for it draw theirs later.
__device__ int draw(int *ticket)
{
    __shared__ int drawn;

    if (threadIdx.x == 0)
        drawn = atomicAdd(ticket, 1);
    __syncthreads();
    return drawn;
}
//< status

//> one-pass TODO:
// Returns how many elements all tiles before this one keep. A warp asks 32
// tiles at a time, the nearest first, as in lesson 9.
__device__ int look_back(unsigned *words, int tile)
{
    int lane = threadIdx.x % 32, before = 0;

    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        int count = 0;
        State state = PREFIX;  // before the first tile
        if (nearest - lane >= 0)
            do
                state = ask(&words[nearest - lane], &count);
            while (state == EMPTY);

        unsigned knows = __ballot_sync(ALL, state == PREFIX);
        int last = knows ? __ffs(knows) - 1 : 31;
        //> add-up-to-last
        before += __reduce_add_sync(ALL, lane <= last ? count : 0);
        //< add-up-to-last
        if (knows)
            break;
    }
    return before;
}

__global__ void __launch_bounds__(THREADS, 6)
compact_one_pass(unsigned *out, int *kept, const unsigned *in, int n,
                 Above above, unsigned *words, int *ticket)
{
    __shared__ int before_tile;
    __shared__ unsigned packed[TILE];  // the elements that it keeps
    int tile = draw(ticket), all;
    unsigned x[ROWS];

    load_tile(x, in, tile * TILE, n, LEAST);
    int before = kept_before(x, above, &all);
    if (threadIdx.x == 0 && tile > 0)
        tell(&words[tile], SUM, all);
    store_kept(packed, x, above, before);  // meanwhile others tell
    if (threadIdx.x < 32) {
        int earlier = look_back(words, tile);
        if (threadIdx.x == 0) {
            tell(&words[tile], PREFIX, earlier + all);
            before_tile = earlier;
            if (tile == gridDim.x - 1)
                *kept = earlier + all;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < all; i += THREADS)
        out[before_tile + i] = packed[i];
}
//< one-pass

//> histogram TODO:
enum {
    PASSES = 32 / BITS,
    COUNTERS = 264  // blocks of count_all: they fill the device
};

// Counts how many elements have which digit, for all passes at once: a
// pass changes the order of the elements, and nothing else.
template <Kind KIND>
__global__ void count_all(int *totals, const unsigned *in, int n,
                          int first, int end)
{
    __shared__ int bins[PASSES * RADIX];
    int t = threadIdx.x, apart = gridDim.x * blockDim.x;

    for (int b = t; b < PASSES * RADIX; b += blockDim.x)
        bins[b] = 0;
    __syncthreads();
    #pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += apart) {
        unsigned x = in[i];
        #pragma unroll
        for (int p = 0; p < PASSES; p++) {
            int *mine = bins + p * RADIX, shift = first + p * BITS;
            if (shift < end)
                atomicAdd(&mine[digit_of<KIND>(x, digit_from(shift, end))], 1);
        }
    }
    __syncthreads();
    for (int b = t; b < PASSES * RADIX; b += blockDim.x)
        if (bins[b] > 0)
            atomicAdd(&totals[b], bins[b]);
}
//< histogram

//> one-sweep TODO:
// Returns how many elements with digit t are in all tiles before this one.
// Each thread asks for its own digit, tile by tile.
__device__ int look_back_digit(unsigned *words, int tile)
{
    int before = 0, count;

    for (;;) {
        tile--;
        State state;
        do
            state = ask(&words[tile * RADIX + threadIdx.x], &count);
        while (state == EMPTY);
        before += count;
        if (state == PREFIX)
            return before;
    }
}

// The only launch of a pass. The first tile adds the elements of the whole
// array with smaller digits to what it tells, and so all later tiles do.
template <Kind KIND>
__global__ void __launch_bounds__(THREADS, 4)
sort_pass(unsigned *out, const unsigned *in, int n, Digit d,
          const int *totals, unsigned *words, int *ticket)
{
    __shared__ int places[WARPS][RADIX], to[RADIX];
    __shared__ unsigned sorted[TILE];
    int tile = draw(ticket), t = threadIdx.x, first = tile * TILE;
    int before = 0, all;
    unsigned x[ROWS], *word = &words[tile * RADIX + t];

    load_tile(x, in, first, n, greatest<KIND>());
    int count = count_tile<KIND>(places, x, d);
    if (tile == 0)
        before = block_scan(totals[t], &all);
    tell(word, tile > 0 ? SUM : PREFIX, before + count);

    int start = block_scan(count, &all);
    give_places(places, start);
    sort_tile<KIND>(sorted, x, places, d);  // meanwhile others tell

    if (tile > 0) {
        before = look_back_digit(words, tile);
        tell(word, PREFIX, before + count);
    }
    to[t] = before - start;
    __syncthreads();
    store_tile<KIND>(out, sorted, to, min(n - first, (int)TILE), d);
}
//< one-sweep

//> passes TODO:
// A pass for each digit. Versions 2 and 3 count, scan and scatter. Version
// 4 counts all digits first, and then makes each pass in one launch.
template <Kind KIND>
static void sort_digits(unsigned *out, const unsigned *in, int n, int first,
                        int end, unsigned *other, int *totals)
{
    int tiles = n / TILE + 1, pass = 0;
    int *tickets = totals + PASSES * RADIX, *rows = tickets + PASSES;

    if constexpr (VERSION == 4) {
        int passes = (end - first + BITS - 1) / BITS;
        size_t words = PASSES * RADIX + PASSES + (size_t)passes * tiles * RADIX;
        CHECK(cudaMemsetAsync(totals, 0, sizeof(int) * words));
        int blocks = tiles < COUNTERS ? tiles : COUNTERS;
        count_all<KIND><<<blocks, 1024>>>(totals, in, n, first, end);
        CHECK(cudaGetLastError());
    }
    for (int at = first; at < end; at += BITS, pass++) {
        unsigned *to = (end - at - 1) / BITS % 2 ? other : out;
        Digit d = digit_from(at, end);
        if constexpr (VERSION == 4) {
            unsigned *words = (unsigned *)rows + (size_t)pass * tiles * RADIX;
            sort_pass<KIND><<<tiles, THREADS>>>(to, in, n, d,
                totals + pass * RADIX, words, tickets + pass);
        } else {
            count_digits<KIND><<<tiles, THREADS>>>(rows, in, n, d);
            CHECK(cudaGetLastError());
            int threads = tiles > 32 ? THREADS : 32;
            scan_counts<<<RADIX, threads>>>(rows, totals, tiles);
            CHECK(cudaGetLastError());
            if constexpr (VERSION == 2)
                scatter<KIND><<<tiles, THREADS>>>(to, in, n, d, rows,
                                                  totals);
            else
                scatter_sorted<KIND><<<tiles, THREADS>>>(to, in, n, d, rows,
                                                         totals);
        }
        CHECK(cudaGetLastError());
        in = to;
    }
}

static void keep_by_tiles(unsigned *out, int *kept, const unsigned *in,
                          int n, Above above, int *counts)
{
    int tiles = n / TILE + 1;

    count_kept<<<tiles, THREADS>>>(counts, in, n, above);
    CHECK(cudaGetLastError());
    scan_counts<<<1, tiles > 1024 ? 1024 : THREADS>>>(counts, kept, tiles);
    CHECK(cudaGetLastError());
    compact_tiles<<<tiles, THREADS>>>(out, in, n, above, counts);
    CHECK(cudaGetLastError());
}

static void keep_in_one_pass(unsigned *out, int *kept, const unsigned *in,
                             int n, Above above, int *ticket)
{
    int tiles = n / TILE + 1;
    unsigned *words = (unsigned *)(ticket + 1);

    CHECK(cudaMemsetAsync(ticket, 0, sizeof(int) * (tiles + 1)));
    compact_one_pass<<<tiles, THREADS>>>(out, kept, in, n, above, words,
                                         ticket);
    CHECK(cudaGetLastError());
}
//< passes

//> launches
// Sorts by bits `first` to `end` - 1, one bit a pass. The last pass must
// write to `out`, so the passes write to `out` and `other` in turns.
template <Kind KIND>
static void sort(unsigned *out, const unsigned *in, int n, int first, int end,
                 void *scratch)
{
    unsigned *other = (unsigned *)scratch;
    int *counts = (int *)(other + n);

    //> choice TODO:
    if (VERSION > 1) {
        sort_digits<KIND>(out, in, n, first, end, other, counts);
        return;
    }
    //< choice
    //> sort-tiles
    int tiles = n / THREADS + 1;
    //< sort-tiles
    //> pass-order
    for (int bit = first; bit < end; bit++) {
        unsigned *to = (end - bit) % 2 ? out : other;
    //< pass-order
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

    //> one TODO:
    if (VERSION > 1) {
        auto keep = VERSION == 4 ? keep_in_one_pass : keep_by_tiles;
        keep(to, kept, from, n, above, counts);
        return;
    }
    //< one
    //> keep-tiles
    int tiles = n / THREADS + 1;  // with no elements there is a tile, too
    //< keep-tiles
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
//< launches
