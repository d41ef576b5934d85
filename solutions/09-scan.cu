// Lesson 9: all sums on the way, out[i] = in[0] + ... + in[i], as a block, then as a whole device.
//
// A block scans a tile by itself. What it lacks is one number: the sum of all tiles before its own.
// One block alone carries that sum from tile to tile. Many blocks need another way.
#include "09-scan.h"

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

enum { THREADS = 256 };  // threads in a block: 8 warps

//> version TODO:
#ifndef VERSION
#define VERSION 6  // what `scan` uses
#endif
//< version

//> declared TODO:
template <typename T>
__device__ T block_scan_tree(T x);  // version 3, below
//< declared

//> hillis-steele
// By Hillis and Steele: the sum of x over threads 0 to t of the block, in
// thread t. All threads of the block call it together.
template <typename T>
__device__ T block_scan(T x)
{
    //> instead TODO:
    if (VERSION == 3)
        return block_scan_tree(x);
    //< instead
    //> part
    __shared__ T part[THREADS];
    //< part
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    //> steps TODO: add what lies 1, 2, 4 ... to the left, until part[t] is the sum up to t (6 lines)
    for (int away = 1; away < THREADS; away *= 2) {
        T left = t >= away ? part[t - away] : 0;
        __syncthreads();  // all threads have read before any writes
        part[t] += left;
        __syncthreads();
    }
    //< steps
    return part[t];
}
//< hillis-steele

//> blelloch TODO:
// Version 3, by Blelloch: up a tree of sums, and down again.
template <typename T>
__device__ T block_scan_tree(T x)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    // Up: the last place of each pair gets the sum of the pair.
    for (int apart = 1; apart < THREADS; apart *= 2) {
        int right = (t + 1) * 2 * apart - 1;
        if (right < THREADS)
            part[right] += part[right - apart];
        __syncthreads();
    }
    if (t == 0)
        part[THREADS - 1] = 0;  // nothing comes before the first
    __syncthreads();

    // Down: each pair holds the sum of what comes before it, in its last
    // place. Its left half gets that sum; its right half gets that sum
    // plus the left half's.
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        int right = (t + 1) * 2 * apart - 1;
        if (right < THREADS) {
            T before = part[right], left = part[right - apart];
            part[right - apart] = before;
            part[right] = before + left;
        }
        __syncthreads();
    }
    return part[t] + x;  // the sum before t, and t's own
}
//< blelloch

//> one-block
// One block scans all n elements, THREADS of them at a time. `carry` is
// the sum of the tiles before. `out` may be `in`.
template <typename T>
__global__ void scan_one_block(T *out, const T *in, int n)
{
    __shared__ T carry;
    int t = threadIdx.x;

    if (t == 0)
        carry = 0;
    for (int first = 0; first < n; first += THREADS) {
        int i = first + t;
        //> own-round
        T x = block_scan(i < n ? in[i] : 0);
        //< own-round
        //> carry TODO: add the carry to x; the last thread then stores the next carry (4 lines)
        x += carry;
        __syncthreads();  // all threads have read carry
        if (t == THREADS - 1)
            carry = x;
        //< carry
        if (i < n)
            out[i] = x;
    }
}
//< one-block

//> tiles TODO:
// Versions 2 and 3. First launch: each block scans its tile, and stores
// the tile's sum.
template <typename T>
__global__ void scan_tiles(T *out, T *sums, const T *in, int n)
{
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;

    //> own-tile
    T x = block_scan(i < n ? in[i] : 0);
    //< own-tile
    if (i < n)
        out[i] = x;
    if (t == THREADS - 1)
        sums[blockIdx.x] = x;
}
//< tiles

//> add TODO:
// Third launch: each tile adds the sum of all tiles before it.
template <typename T>
__global__ void add_sums(T *out, const T *sums, int n)
{
    //> before
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
    //< before
}
//< add

//> four
// For step 2: four neighbours, which a thread loads or stores in one
// instruction. i is a multiple of 4; elements from n on count as 0.
template <typename T>
struct alignas(16) Four {
    T at[4];
};

template <typename T>
__device__ Four<T> load_four(const T *in, int i, int n)
{
    if (i + 4 <= n)
        return *(const Four<T> *)(in + i);
    Four<T> x;
    for (int j = 0; j < 4; j++)
        x.at[j] = i + j < n ? in[i + j] : 0;
    return x;
}

template <typename T>
__device__ void store_four(T *out, int i, int n, Four<T> x)
{
    if (i + 4 <= n) {
        *(Four<T> *)(out + i) = x;
        return;
    }
    for (int j = 0; j < 4; j++)
        if (i + j < n)
            out[i + j] = x.at[j];
}
//< four

//> threads-before TODO:
template <typename T>
__device__ T threads_before_shuffles(T x, T *all);  // version 5, below

// Version 4: the sum of x over the threads before this one, and in *all
// the sum over the block. All threads of the block call it together.
template <typename T>
__device__ T threads_before(T x, T *all)
{
    if (VERSION == 5)
        return threads_before_shuffles(x, all);
    __shared__ T upto[THREADS];
    int t = threadIdx.x;

    upto[t] = block_scan(x);
    __syncthreads();
    *all = upto[THREADS - 1];
    //> to-the-left
    return t > 0 ? upto[t - 1] : 0;
    //< to-the-left
}
//< threads-before

//> fours TODO:
enum { TILE = 4 * THREADS };  // elements in a tile

// The four of each thread become sums over the tile, *all its whole sum.
template <typename T>
__device__ Four<T> scan_fours(Four<T> x, T *all)
{
    for (int j = 1; j < 4; j++)
        x.at[j] += x.at[j - 1];
    T before = threads_before(x.at[3], all);
    for (int j = 0; j < 4; j++)
        x.at[j] += before;
    return x;
}
//< fours

//> fours-launches TODO:
template <typename T>
__global__ void scan_tiles_fours(T *out, T *sums, const T *in, int n)
{
    int i = blockIdx.x * TILE + 4 * threadIdx.x;
    T all;
    //> own-fours
    store_four(out, i, n, scan_fours(load_four(in, i, n), &all));
    //< own-fours
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

template <typename T>
__global__ void scan_one_block_fours(T *sums, int tiles)
{
    T carry = 0, all;
    for (int first = 0; first < tiles; first += TILE) {
        int i = first + 4 * threadIdx.x;
        Four<T> x = scan_fours(load_four(sums, i, tiles), &all);
        for (int j = 0; j < 4; j++)
            x.at[j] += carry;
        store_four(sums, i, tiles, x);
        carry += all;
    }
}

template <typename T>
__global__ void add_sums_fours(T *out, const T *sums, int n)
{
    int i = blockIdx.x * TILE + 4 * threadIdx.x;
    if (blockIdx.x == 0 || i >= n)
        return;
    T before = sums[blockIdx.x - 1];
    Four<T> x = load_four(out, i, n);
    for (int j = 0; j < 4; j++)
        x.at[j] += before;
    store_four(out, i, n, x);
}
//< fours-launches

//> warp-scan TODO:
const unsigned ALL = 0xffffffff;  // lanes

// The sum of x over lanes 0 to `lane`. All 32 must call it together.
template <typename T>
__device__ T warp_scan(T x)
{
    int lane = threadIdx.x % 32;

    for (int away = 1; away < 32; away *= 2) {
        T left = __shfl_up_sync(ALL, x, away);
        if (lane >= away)
            x += left;
    }
    return x;
}
//< warp-scan

//> shuffles TODO:
// Version 5: the same, by shuffles. Only the 8 warps' sums are in shared
// memory; every warp scans them for itself.
enum { WARPS = THREADS / 32 };

template <typename T>
__device__ T threads_before_shuffles(T x, T *all)
{
    __shared__ T warp_sums[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    T upto = warp_scan(x);
    T left = __shfl_up_sync(ALL, upto, 1);
    __syncthreads();  // all threads have read the last tile's sums
    if (lane == 31)
        warp_sums[warp] = upto;
    __syncthreads();

    T sums = warp_scan(lane < WARPS ? warp_sums[lane] : 0);
    T before = __shfl_sync(ALL, sums, warp > 0 ? warp - 1 : 0);
    *all = __shfl_sync(ALL, sums, WARPS - 1);
    return (warp > 0 ? before : 0) + (lane > 0 ? left : 0);
}
//< shuffles

//> status TODO:
// Version 6: what a tile tells the others. State and sum share one word,
// because a word is stored and loaded whole.
enum State {
    EMPTY,   // nothing yet; cleared memory says this
    SUM,     // the sum of the tile
    PREFIX,  // the sum of the tile and of all before it
};
typedef unsigned long long Word;
typedef cuda::atomic_ref<Word, cuda::thread_scope_device> Status;

template <typename T>
__device__ void tell(Word *word, State state, T sum)
{
    unsigned bits;
    memcpy(&bits, &sum, sizeof bits);
    Word w = (Word)state << 32 | bits;
    Status(*word).store(w, cuda::memory_order_relaxed);
}

template <typename T>
__device__ State ask(Word *word, T *sum)
{
    Word w = Status(*word).load(cuda::memory_order_relaxed);
    unsigned bits = (unsigned)w;
    memcpy(sum, &bits, sizeof bits);
    return (State)(w >> 32);
}
//< status

//> look-back TODO:
// The sum of all tiles before `tile`. A whole warp calls it: its lanes
// ask 32 tiles at a time, lane 0 the nearest.
template <typename T>
__device__ T look_back(Word *words, int tile)
{
    int lane = threadIdx.x % 32;
    T before = 0;

    //> tiles-before
    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        T sum = 0;
        State state = PREFIX;  // of what lies before the first tile
        if (nearest - lane >= 0)
            do
                state = ask(&words[nearest - lane], &sum);
            while (state == EMPTY);

        unsigned knows = __ballot_sync(ALL, state == PREFIX);
        int last = knows ? __ffs(knows) - 1 : 31;
        //> add-up-to-last
        sum = warp_scan(lane <= last ? sum : 0);
        //< add-up-to-last
        before += __shfl_sync(ALL, sum, 31);
        if (knows)
            break;
    }
    //< tiles-before
    return before;
}
//< look-back

//> rows TODO:
// A tile of version 6 is 8 warps' parts; a part is ROWS rows of 128.
enum { ROWS = 8, ROW = 32 * 4, KEPT = WARPS * ROWS * ROW };

// Where in the tile the thread's four of row 0 begin.
__device__ int place(void)
{
    return threadIdx.x / 32 * (ROWS * ROW) + threadIdx.x % 32 * 4;
}

// A warp scans a row, on top of *done, and adds the row's sum to that.
template <typename T>
__device__ Four<T> scan_row(Four<T> x, T *done)
{
    for (int j = 1; j < 4; j++)
        x.at[j] += x.at[j - 1];
    T sum = warp_scan(x.at[3]);
    T left = __shfl_up_sync(ALL, sum, 1);
    for (int j = 0; j < 4; j++)
        x.at[j] += *done + (threadIdx.x % 32 > 0 ? left : 0);
    *done += __shfl_sync(ALL, sum, 31);
    return x;
}
//< rows

//> one-pass TODO:
// The tile waits in shared memory, where a multiprocessor has room for 6
// of them. It is added up on its way in, and scanned on its way out.
template <typename T>
__global__ void scan_one_pass(T *out, const T *in, int n, Word *words,
                              int *ticket)
{
    __shared__ Four<T> kept[ROWS][THREADS];
    __shared__ T part_sums[WARPS], befores[WARPS];
    __shared__ int drawn;
    int t = threadIdx.x, warp = t / 32, lane = t % 32;

    //> draw
    if (t == 0)
        drawn = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = drawn, first = tile * KEPT + place();
    //< draw

    T sum = 0;
    for (int r = 0; r < ROWS; r++) {
        //> own-row
        Four<T> x = load_four(in, first + r * ROW, n);
        //< own-row
        sum += x.at[0] + x.at[1] + x.at[2] + x.at[3];
        kept[r][t] = x;
    }
    sum = warp_scan(sum);
    if (lane == 31)
        part_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = warp_scan(lane < WARPS ? part_sums[lane] : 0);
        T left = __shfl_up_sync(ALL, sum, 1);
        T whole = __shfl_sync(ALL, sum, 31);
        if (lane == 0)
            tell(&words[tile], tile > 0 ? SUM : PREFIX, whole);
        T before = look_back<T>(words, tile);
        if (lane == 0 && tile > 0)
            tell(&words[tile], PREFIX, before + whole);
        if (lane < WARPS)
            befores[lane] = before + (lane > 0 ? left : 0);
    }
    __syncthreads();

    T done = befores[warp];
    for (int r = 0; r < ROWS; r++)
        store_four(out, first + r * ROW, n, scan_row(kept[r][t], &done));
}
//< one-pass

//> launches
template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    //> empty
    if (n == 0)
        return;  // a grid of no blocks is an error
    //< empty
    //> launch TODO:
    //| (void)scratch;
    //| // One block scans everything.
    //| scan_one_block<<<1, THREADS>>>(out, in, n);
    //| CHECK(cudaGetLastError());  // the caller synchronises
    T *sums = (T *)scratch;

    if (VERSION == 6) {
        int tiles = (n + KEPT - 1) / KEPT;
        Word *words = (Word *)scratch;
        int *ticket = (int *)(words + tiles);
        //> clear
        CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof *words));
        //< clear
        scan_one_pass<<<tiles, THREADS>>>(out, in, n, words, ticket);
        CHECK(cudaGetLastError());
        return;
    }
    if (VERSION == 4 || VERSION == 5) {
        //> fours-three
        int tiles = (n + TILE - 1) / TILE;
        scan_tiles_fours<<<tiles, THREADS>>>(out, sums, in, n);
        CHECK(cudaGetLastError());
        scan_one_block_fours<<<1, THREADS>>>(sums, tiles);
        CHECK(cudaGetLastError());
        add_sums_fours<<<tiles, THREADS>>>(out, sums, n);
        CHECK(cudaGetLastError());
        //< fours-three
        return;
    }
    if (VERSION == 1) {
        //> one
        scan_one_block<<<1, THREADS>>>(out, in, n);
        CHECK(cudaGetLastError());  // the caller synchronises
        //< one
        return;
    }
    //> three
    int tiles = (n + THREADS - 1) / THREADS;
    scan_tiles<<<tiles, THREADS>>>(out, sums, in, n);
    CHECK(cudaGetLastError());
    //> second
    scan_one_block<<<1, THREADS>>>(sums, sums, tiles);
    //< second
    CHECK(cudaGetLastError());
    add_sums<<<tiles, THREADS>>>(out, sums, n);
    CHECK(cudaGetLastError());
    //< three
    //< launch
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    //> ints
    scan(out, in, n, scratch);
    //< ints
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    //> floats
    scan(out, in, n, scratch);
    //< floats
}
//< launches
