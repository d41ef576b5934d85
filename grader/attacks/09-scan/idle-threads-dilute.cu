// expect: SLOW
// says: too few threads share the work
// Sixteen blocks scan everything, a part each. A thousand more return at once, so that few
// instructions fall to each thread that was launched.
#include "09-scan.h"

enum { THREADS = 256, WARPS = THREADS / 32, TILE = 4 * THREADS, BUSY = 16, LAUNCHED = 1024 };

// The sum of x over the block's threads before t, in thread t; *all becomes the sum over the block.
template <typename T> __device__ T block_scan(T x, T *all)
{
    __shared__ T warp_sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int away = 1; away < 32; away *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, away);
        if (lane >= away)
            x += left;
    }
    if (lane == 31)
        warp_sums[warp] = x;
    __syncthreads();

    T before = 0, sum = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w == warp)
            before = sum;
        sum += warp_sums[w];
    }
    __syncthreads();
    *all = sum;
    x = __shfl_up_sync(0xffffffff, x, 1);
    return lane ? before + x : before;
}

// A busy block's part: whole tiles.
__device__ int part_of(int n) { return (n + BUSY * TILE - 1) / (BUSY * TILE) * TILE; }

// Four neighbours, which a thread loads and stores in one instruction.
template <typename T> struct alignas(16) Four {
    T at[4];
};

template <typename T> __device__ Four<T> load_four(const T *in, int i, int n)
{
    if (i + 4 <= n)
        return *(const Four<T> *)(in + i);
    Four<T> x;
    for (int j = 0; j < 4; j++)
        x.at[j] = i + j < n ? in[i + j] : 0;
    return x;
}

template <typename T> __global__ void add_parts(T *sums, const T *in, int n)
{
    if (blockIdx.x >= BUSY)
        return;
    int part = part_of(n), first = blockIdx.x * part;
    T x = 0, all;
    for (int i = first + threadIdx.x; i < first + part && i < n; i += THREADS)
        x += in[i];
    block_scan(x, &all);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

template <typename T> __global__ void scan_parts(T *out, const T *in, const T *sums, int n)
{
    if (blockIdx.x >= BUSY)
        return;
    int part = part_of(n), first = blockIdx.x * part;
    T carry = 0, all;
    for (int b = 0; b < blockIdx.x; b++)
        carry += sums[b];
    for (int tile = first; tile < first + part && tile < n; tile += TILE) {
        int i = tile + 4 * threadIdx.x;
        Four<T> x = load_four(in, i, n);
        for (int j = 1; j < 4; j++)
            x.at[j] += x.at[j - 1];
        T before = carry + block_scan(x.at[3], &all);
        for (int j = 0; j < 4; j++)
            x.at[j] += before;
        if (i + 4 <= n)
            *(Four<T> *)(out + i) = x;
        else
            for (int j = 0; i + j < n; j++)
                out[i + j] = x.at[j];
        carry += all;
    }
}

template <typename T> static void scan(T *out, const T *in, int n, void *scratch)
{
    add_parts<<<LAUNCHED, THREADS>>>((T *)scratch, in, n);
    scan_parts<<<LAUNCHED, THREADS>>>(out, in, (const T *)scratch, n);
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}
