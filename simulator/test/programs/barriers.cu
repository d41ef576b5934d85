// expect: exit 0
// Barriers that count and vote, one of a cooperative group, and numbered ones between producers and consumers.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;
enum { N = 128 };

__global__ void kernel(int *out, const int *in)
{
    __shared__ int data[N];
    int t = threadIdx.x, v = in[t];
    out[t] = __syncthreads_count(v % 3 == 0);
    out[N + t] = __syncthreads_and(v >= 0) + 2 * __syncthreads_and(v > 5) + 4 * __syncthreads_or(v == 41) + 8 * __syncthreads_or(v < 0);
    data[t] = v;
    cg::this_thread_block().sync();
    out[2 * N + t] = data[N - 1 - t];
    cg::this_thread_block().sync();
    for (int round = 0; round < 3; round++) {
        if (t < 64) {
            asm volatile("bar.sync 2, 128;" ::: "memory");
            data[t] = v + round;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.arrive 2, 128;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[(3 + round) * N + t] = data[t - 64];
        }
    }
}

// The last warp comes to the barrier after many turns of the others.
__global__ void late(int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == N - 1) {
        int x = 0;
        for (volatile int i = 0; i < n; i++) x += i;
        sum = x;
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}

// A barrier with a number of threads counts warps whole, also the last one, which has 16.
__global__ void partial(int *out)
{
    __shared__ int data[48];
    data[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 3, 64;" ::: "memory");
    out[threadIdx.x] = data[47 - threadIdx.x];
}

// Whoever only arrives goes on at once: the others come when it has told them to.
__global__ void ahead(int *out)
{
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 4, 64;" ::: "memory");
        flag = 1;
    } else {
        while (flag == 0) continue;
        asm volatile("bar.sync 4, 64;" ::: "memory");
        out[threadIdx.x] = flag;
    }
}

int main()
{
    int in[N], out[6 * N], *din, *dout, threes = 0;
    for (int i = 0; i < N; i++) in[i] = i * 7 % 43, threes += in[i] % 3 == 0;
    OK(cudaMalloc(&din, sizeof in));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemset(dout, 0, sizeof out));
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    kernel<<<1, N>>>(dout, din);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N; t++) {
        CHECK(out[t] == threes);
        CHECK(out[N + t] == 1 + 4);
        CHECK(out[2 * N + t] == in[N - 1 - t]);
        for (int r = 0; r < 3; r++) CHECK(out[(3 + r) * N + t] == (t < 64 ? 0 : in[t - 64] + r));
    }
    late<<<1, N>>>(dout, 20000);
    OK(cudaMemcpy(out, dout, sizeof in, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N; t++) CHECK(out[t] == 20000 / 2 * 19999);
    partial<<<1, 48>>>(dout);
    OK(cudaMemcpy(out, dout, sizeof in, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 48; t++) CHECK(out[t] == 47 - t);
    ahead<<<1, 64>>>(dout);
    OK(cudaMemcpy(out, dout, sizeof in, cudaMemcpyDeviceToHost));
    CHECK(out[32] == 1 && out[63] == 1);
    OK(cudaFree(din));
    OK(cudaFree(dout));
    return 0;
}
