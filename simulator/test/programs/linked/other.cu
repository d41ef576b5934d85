// The second translation unit of linked.cu.
#include "common.h"

__device__ int total = 100;
__constant__ int scale[4] = { 1, 2, 3, 4 };
__managed__ int everywhere = 7;
__device__ int *const target = &table[1];
__shared__ int buffer[32];                              // its functions' and its kernels', wherever they are called from

static __device__ __noinline__ int helper(int x) { return 7 * x; }
__device__ __noinline__ int triple(int x) { return 3 * x + helper(1); }
static __device__ int negative(int x) { return -x; }
__device__ Function pick(int which) { return which ? triple : negative; }

__device__ __noinline__ int fill_buffer(int x)
{
    buffer[threadIdx.x] = x;
    __syncthreads();
    return buffer[31 - threadIdx.x];
}

static __device__ __noinline__ int at(int i) { return buffer[i]; }

__device__ int past_end(const int *p, int i)
{
    return p[i];
}

__global__ void other(int *p)
{
    int mine = threadIdx.x;
    buffer[mine] = table[mine % 3];
    __syncthreads();
    int first = at(31 - mine);
    __syncthreads();
    p[mine] = first + fill_buffer(mine);
    if (mine == 0)
        total++;
}

int launch_other(int *p)
{
    int host[32], sum;
    other<<<1, 32>>>(p);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        CHECK(host[i] == 10 * ((31 - i) % 3 + 1) + 31 - i);
    clear<<<1, 32>>>(p);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[31] == 15);
    OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    return sum;
}
