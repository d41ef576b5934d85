// expect: RACE 60
// says: outside of branches
// Lanes that add nothing do not come to the shuffle.
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
        if (lane >= away)
            x += __shfl_up_sync(ALL, x, away);
    }
    return x;
}

// A tile is 8 warps' parts; a part is ROWS rows of 128.
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
    T done = 0;
    for (int r = 0; r < ROWS; r++)
        x[r] = scan_row(x[r], &done);
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

template <typename T>
__global__ void scan_tiles_shuffles(T *out, T *sums, const T *in, int n)
{
    Four<T> x[ROWS];
    T before, sum = scan_parts(x, &before, in, blockIdx.x * TILE, n);
    store_parts(out, blockIdx.x * TILE, n, x, before);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

template <typename T>
__global__ void scan_sums_shuffles(T *sums, int tiles)
{
    T carry = 0;
    for (int first = 0; first < tiles; first += TILE) {
        Four<T> x[ROWS];
        T before, sum = scan_parts(x, &before, sums, first, tiles);
        store_parts(sums, first, tiles, x, carry + before);
        carry += sum;
        __syncthreads();  // all have read part_sums
    }
}

template <typename T>
__global__ void add_sums_fours(T *out, const T *sums, int n)
{
    if (blockIdx.x == 0)
        return;
    T before = sums[blockIdx.x - 1];
    for (int r = 0; r < ROWS; r++) {
        int i = blockIdx.x * TILE + place() + r * ROW;
        Four<T> x = load_four(out, i, n);
        for (int j = 0; j < 4; j++)
            x.at[j] += before;
        store_four(out, i, n, x);
    }
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    T *sums = (T *)scratch;

    int tiles = (n + TILE - 1) / TILE;
    scan_tiles_shuffles<<<tiles, THREADS>>>(out, sums, in, n);
    CHECK(cudaGetLastError());
    scan_sums_shuffles<<<1, THREADS>>>(sums, tiles);
    CHECK(cudaGetLastError());
    add_sums_fours<<<tiles, THREADS>>>(out, sums, n);
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
