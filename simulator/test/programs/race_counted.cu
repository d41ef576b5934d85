// expect: race 29, race 45, race 53
// A fence for the writer's own block, or cluster, tells no other one, also where somebody there has added to the flag in between; and
// who stores to the flag leaves nothing of what was told there.
#include "check.h"

__device__ int flag;

static __device__ void add() { asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" :: "l"(&flag) : "memory"); }

static __device__ void set(int to) { asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" :: "l"(&flag), "r"(to) : "memory"); }

static __device__ void wait_for(int wanted)
{
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    while (seen < wanted);
}

__global__ void for_block(int *x, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *x = 1;
        __threadfence_block();
        add();
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) wait_for(1), add();
    if (blockIdx.x == 1 && threadIdx.x == 32) {
        wait_for(2);
        *out = *x;                                              // 29
    }
}

// Of clusters: block 0 is of the first one, blocks 2 and 3 are the second one.
__global__ void __cluster_dims__(2) for_cluster(int *x, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *x = 1;
        asm volatile("fence.acq_rel.cluster;" ::: "memory");
        add();
    }
    if (blockIdx.x == 2) wait_for(1), add();
    if (blockIdx.x == 3) {
        wait_for(2);
        *out = *x;                                              // 45
    }
}

// Block 1 is late, and waits for nobody.
__global__ void stored(int *x, int *out)
{
    if (blockIdx.x == 0) {
        out[threadIdx.x] = *x;                                  // 53
        __syncthreads();
        if (threadIdx.x == 0) set(1);
    } else if (blockIdx.x == 1) {
        __nanosleep(100000);
        if (threadIdx.x == 0) set(2);
    } else {
        wait_for(2);
        if (threadIdx.x == 0) *x = 2;
    }
}

int main()
{
    int *x, *out, none = 0;
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMalloc(&out, 64 * sizeof *out));
    for_block<<<2, 64>>>(x, out);
    OK(cudaMemcpyToSymbol(flag, &none, sizeof none));
    for_cluster<<<4, 32>>>(x, out);
    OK(cudaMemcpyToSymbol(flag, &none, sizeof none));
    stored<<<3, 64>>>(x, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
