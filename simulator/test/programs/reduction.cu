// expect: exit 0
// The sum of an array in five ways: interleaved, sequential, with shuffles, with cooperative groups, with atomics, and by the
// last block to finish.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "numbers.h"

namespace cg = cooperative_groups;
enum { BLOCK = 256 };

__global__ void interleaved(double *out, const float *in, int n)
{
    __shared__ double sum[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    sum[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        if (t % (2 * step) == 0) sum[t] += sum[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sum[0];
}

template <int SIZE> __global__ void sequential(double *out, const float *in, int n)
{
    extern __shared__ double dynamic[];
    int t = threadIdx.x;
    double mine = 0;
    for (int i = blockIdx.x * SIZE + t; i < n; i += gridDim.x * SIZE) mine += in[i];
    dynamic[t] = mine;
    __syncthreads();
#pragma unroll
    for (int half = SIZE / 2; half >= 32; half /= 2) {
        if (t < half) dynamic[t] += dynamic[t + half];
        __syncthreads();
    }
    if (t < 32) {
        mine = dynamic[t];
        for (int half = 16; half; half /= 2) mine += __shfl_down_sync(~0u, mine, half);
        if (t == 0) out[blockIdx.x] = mine;
    }
}

__global__ void grouped(double *out, const float *in, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    __shared__ double sums[BLOCK / 32];
    int i = block.group_index().x * BLOCK + block.thread_rank();
    double mine = cg::reduce(warp, i < n ? (double)in[i] : 0.0, cg::plus<double>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = mine;
    block.sync();
    if (warp.meta_group_rank() != 0) return;
    mine = warp.thread_rank() < BLOCK / 32 ? sums[warp.thread_rank()] : 0;
    mine = cg::reduce(warp, mine, cg::plus<double>());
    if (warp.thread_rank() == 0) out[blockIdx.x] = mine;
}

__global__ void atomics(double *out, const float *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(out, (double)in[i]);
}

__device__ unsigned finished;

// The block that finishes last adds up what the others left.
__global__ void last_block(double *out, double *parts, const float *in, int n)
{
    __shared__ double sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    atomicAdd(&sum, i < n ? (double)in[i] : 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x) return;
    double all = 0;
    for (int b = 0; b < (int)gridDim.x; b++) all += ((volatile double *)parts)[b];
    *out = all;
}

static void check_sum(const double *out, int count, double want)
{
    double sum = 0;
    for (double part : from_device(out, count)) sum += part;
    CHECK(fabs(sum - want) < 1e-9 * fabs(want) + 1e-9);
}

int main()
{
    for (int n : { 1, 255, 257, 10000 }) {
        std::vector<float> host = real_numbers<float>(n, 11);
        double want = 0;
        for (float x : host) want += x;
        int blocks = (n + BLOCK - 1) / BLOCK;
        float *in = on_device(host);
        double *out = room_for<double>(blocks), *parts = room_for<double>(blocks);
        interleaved<<<blocks, BLOCK>>>(out, in, n);
        check_sum(out, blocks, want);
        double *three = room_for<double>(3);
        sequential<128><<<3, 128, 128 * sizeof(double)>>>(three, in, n);
        check_sum(three, 3, want);
        grouped<<<blocks, BLOCK>>>(out, in, n);
        check_sum(out, blocks, want);
        OK(cudaMemset(out, 0, sizeof(double)));
        atomics<<<blocks, BLOCK>>>(out, in, n);
        check_sum(out, 1, want);
        last_block<<<blocks, BLOCK>>>(out, parts, in, n);
        check_sum(out, 1, want);
        free_all(in, out, parts, three);
    }
}
