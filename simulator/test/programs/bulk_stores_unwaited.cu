// expect: race 27, unfinished-copy 37, race 48, unfinished-copy 57, exit 0
// says: thread (32,0,0) reads what thread (0,0,0) writes
// says: with no wait for the copy in bulk between
// says: wait with cp.async.bulk.wait_group 0, without .read. Then put a __syncthreads()
// says: thread (0,0,0) reads global memory that a copy in bulk of its own goes to, which it has not waited for
// says: that waits until shared memory has been read, and not until global memory has been written
// A copy in bulk to global memory, of which is waited that it has read shared memory, or not at all.
#include "check.h"

enum { N = 256 };

static __device__ void copy(int *to, const int *from)
{
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(to), "r"((unsigned)__cvta_generic_to_shared(from)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
static __device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

__global__ void read_by_all(int *out, int *global)
{
    __shared__ alignas(128) int tile[N];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();
    if (threadIdx.x == 0) copy(global, tile), wait_read();
    __syncthreads(); out[threadIdx.x] = global[threadIdx.x];    // 27
}

__global__ void read_by_its_thread(int *out, int *global)
{
    __shared__ alignas(128) int tile[N];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();
    if (threadIdx.x == 0) {
        copy(global, tile), wait_read();
        out[0] = global[7];                                     // 37
    }
}

__global__ void added_beside(int *out, int *global)
{
    __shared__ alignas(128) int tile[N];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();
    if (threadIdx.x == 0) copy(global, tile), wait_read();
    __syncthreads();
    if (threadIdx.x == 32) global[5] = 1;                       // 48
}

__global__ void two_copies(int *out, int *global)
{
    __shared__ alignas(128) int tile[N];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();
    if (threadIdx.x == 64) {
        copy(global, tile), wait_read(), global[9]++;           // 57
    }
}

__global__ void right(int *out, int *global)
{
    __shared__ alignas(128) int tile[N];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory"); __syncthreads();
    if (threadIdx.x == 0) {
        copy(global, tile), wait_all();
        out[0] = global[7];
    }
    __syncthreads();
    out[threadIdx.x] = global[threadIdx.x];
}

int main()
{
    int *out, *global;
    OK(cudaMalloc(&out, 1024));
    OK(cudaMalloc(&global, 1024));
#define RUN(kernel) OK(cudaMemset(global, 0, 1024)); kernel<<<1, N>>>(out, global); OK(cudaDeviceSynchronize())
    RUN(read_by_all);
    RUN(read_by_its_thread);
    RUN(added_beside);
    RUN(two_copies);
    RUN(right);
    OK(cudaFree(out));
    OK(cudaFree(global));
    return 0;
}
