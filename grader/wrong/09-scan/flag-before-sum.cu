// expect: RACE 155 144
// says: with a flag but no fence between
// Stores a sum, and then the state that says so: to other blocks the two may come in either order.
#include "09-scan.h"

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

// Four neighbours, which a thread loads and stores in one instruction.
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

// Version 3: a tile is 8 warps' parts; a part is ROWS rows of 128.
enum {
    WARPS = THREADS / 32,
    ROWS = 8,
    ROW = 32 * 4,
    TILE = WARPS * ROWS * ROW
};

// Where in the tile the thread's four of row 0 begin.
__device__ int place(void)
{
    return threadIdx.x / 32 * (ROWS * ROW) + threadIdx.x % 32 * 4;
}

// Loads a tile and scans each warp's part. *before is the sum of the
// parts before the warp's; returned is the sum of the tile.
template <typename T>
__device__ T scan_parts(Four<T> x[ROWS], T *before, const T *in,
                        int first, int n)
{
    __shared__ T part_sums[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int r = 0; r < ROWS; r++)
        x[r] = load_four(in, first + place() + r * ROW, n);

    T done = 0;  // the sum of the rows above
    for (int r = 0; r < ROWS; r++) {
        T *at = x[r].at;
        for (int j = 1; j < 4; j++)
            at[j] += at[j - 1];
        T sum = warp_scan(at[3]);
        T left = __shfl_up_sync(ALL, sum, 1);
        for (int j = 0; j < 4; j++)
            at[j] += done + (lane > 0 ? left : 0);
        done += __shfl_sync(ALL, sum, 31);
    }
    if (lane == 0)
        part_sums[warp] = done;
    __syncthreads();

    T sum = warp_scan(lane < WARPS ? part_sums[lane] : 0);
    T left = __shfl_sync(ALL, sum, warp > 0 ? warp - 1 : 0);
    *before = warp > 0 ? left : 0;
    return __shfl_sync(ALL, sum, WARPS - 1);
}

template <typename T>
__device__ void store_parts(T *out, int first, int n,
                            const Four<T> x[ROWS], T before)
{
    for (int r = 0; r < ROWS; r++) {
        Four<T> y = x[r];
        for (int j = 0; j < 4; j++)
            y.at[j] += before;
        store_four(out, first + place() + r * ROW, n, y);
    }
}

// What a tile says of itself: a state, and sums of which the state says
// that they can be read.
enum State {
    EMPTY,   // nothing yet; what clearing the memory gives
    SUM,     // the sum of the tile
    PREFIX,  // the sum of the tile and of all before it
};
template <typename T>
struct Word {
    volatile int state;
    T sum, prefix;
};

template <typename T>
__device__ void tell(Word<T> *word, State state, T sum)
{
    if (state == SUM)
        word->sum = sum;
    else
        word->prefix = sum;
    word->state = state;
}

template <typename T>
__device__ State ask(Word<T> *word, T *sum)
{
    int state = word->state;
    if (state == SUM)
        *sum = word->sum;
    else if (state == PREFIX)
        *sum = word->prefix;
    return (State)state;
}

// The sum of all tiles before `tile`. A whole warp calls it: its lanes
// ask 32 tiles at a time, lane 0 the nearest.
template <typename T>
__device__ T look_back(Word<T> *words, int tile)
{
    int lane = threadIdx.x % 32;
    T before = 0;

    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        T sum = 0;
        State state = PREFIX;  // of what lies before the first tile
        if (nearest - lane >= 0)
            do
                state = ask(&words[nearest - lane], &sum);
            while (state == EMPTY);

        unsigned knows = __ballot_sync(ALL, state == PREFIX);
        int last = knows ? __ffs(knows) - 1 : 31;
        sum = warp_scan(lane <= last ? sum : 0);
        before += __shfl_sync(ALL, sum, 31);
        if (knows)
            break;
    }
    return before;
}

template <typename T>
__global__ void scan_one_pass(T *out, const T *in, int n, Word<T> *words,
                              int *ticket)
{
    __shared__ int drawn;
    __shared__ T before_tile;

    if (threadIdx.x == 0)
        drawn = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = drawn;

    Four<T> x[ROWS];
    T before, sum = scan_parts(x, &before, in, tile * TILE, n);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            tell(&words[tile], tile > 0 ? SUM : PREFIX, sum);
        T back = look_back<T>(words, tile);
        if (threadIdx.x == 0) {
            if (tile > 0)
                tell(&words[tile], PREFIX, back + sum);
            before_tile = back;
        }
    }
    __syncthreads();
    store_parts(out, tile * TILE, n, x, before_tile + before);
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    int tiles = (n + TILE - 1) / TILE;
    Word<T> *words = (Word<T> *)scratch;
    int *ticket = (int *)(words + tiles);
    CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof *words));
    scan_one_pass<<<tiles, THREADS>>>(out, in, n, words, ticket);
    CHECK(cudaGetLastError());
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}
