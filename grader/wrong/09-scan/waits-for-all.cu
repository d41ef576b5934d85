// expect: TIMEOUT
// at: Word w = Status(*word).load(cuda::memory_order_relaxed);
// says: Let blocks wait only for blocks that began before them
// One kernel: each block waits until all have told their sums. Blocks that wait for the end of others keep these from beginning.
#include "09-scan.h"

#include <cuda/atomic>
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

// A tile is 8 warps' parts; a part is ROWS rows of 128.
enum {
    WARPS = THREADS / 32,
    ROWS = 1,
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

// What a tile says of itself. State and sum go in one word,
// since a word is stored and loaded whole.
enum State {
    EMPTY,   // nothing yet; what clearing the memory gives
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

// The sum of all tiles before `tile`. A whole warp calls it: its lanes
// ask 32 tiles at a time, lane 0 the nearest.
template <typename T>
__device__ T look_back(Word *words, int tile)
{
    int lane = threadIdx.x % 32;
    T before = 0;

    for (int first = 0; first < gridDim.x; first += 32) {
        int other = first + lane;
        T sum = 0;
        if (other < gridDim.x)
            while (ask(&words[other], &sum) == EMPTY)
                ;
        sum = warp_scan(other < tile ? sum : 0);
        before += __shfl_sync(ALL, sum, 31);
    }
    return before;
}

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

    if (t == 0)
        drawn = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = drawn, first = tile * TILE + place();

    T sum = 0;
    for (int r = 0; r < ROWS; r++) {
        Four<T> x = load_four(in, first + r * ROW, n);
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
            tell(&words[tile], SUM, whole);
        T before = look_back<T>(words, tile);
        if (lane < WARPS)
            befores[lane] = before + (lane > 0 ? left : 0);
    }
    __syncthreads();

    T done = befores[warp];
    for (int r = 0; r < ROWS; r++)
        store_four(out, first + r * ROW, n, scan_row(kept[r][t], &done));
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    int tiles = (n + TILE - 1) / TILE;
    Word *words = (Word *)scratch;
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
