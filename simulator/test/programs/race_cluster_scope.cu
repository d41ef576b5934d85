// expect: race 17, race 18, race 35, race 39, race 35, exit 0
// says: What is atomic for its own cluster only is not so for the blocks of others
// says: with a flag but no fence between
// What is atomic, or a fence, for the blocks of a cluster does nothing between two clusters, and without clusters each block is one.
#include "check.h"

#define ADD(scope, at) asm volatile("red.relaxed." scope ".global.add.u32 [%0], 1;" :: "l"(at) : "memory")
#define FENCE(scope) asm volatile("fence.acq_rel." scope ";" ::: "memory")
#define TELL(at) asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" :: "l"(at) : "memory")
#define LOOK(seen, at) asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory")

// A place for each cluster; one for all; one for all, where some reach further than others.
__device__ void add(int *sums, bool far)
{
    if (threadIdx.x) return;
    ADD("cluster", &sums[16 + blockIdx.x / 2]);
    ADD("cluster", &sums[0]);                       // 17
    if (far && blockIdx.x % 2) ADD("gpu", &sums[2]);  // 18
    if (far && blockIdx.x % 2) return;
    ADD("cluster", &sums[2]);
}

// To block `to`, behind fences for the cluster.
__device__ int hand_over(int *data, int *flag, int to)
{
    int seen = 0;
    if (threadIdx.x) return 0;
    if (blockIdx.x == 0) {
        *data = 5;
        FENCE("cluster");
        TELL(flag);
    } else if (blockIdx.x == to) {
        while (!seen) LOOK(seen, flag);
        FENCE("cluster");
        return *data;                               // 35
    }
    return 0;
}
__global__ void alone(int *data, int *flag) { if (threadIdx.x == 0 && hand_over(data, flag, 1)) flag[1] = 1; if (threadIdx.x) ADD("cluster", data + 1); }   // 39
__global__ void __cluster_dims__(2) added(int *sums, bool far) { add(sums, far); }
__global__ void __cluster_dims__(2) handed(int *data, int *flag, int to) { if (hand_over(data, flag, to)) flag[1] = 1; }

int main()
{
    int *sums, host;
    OK(cudaMalloc(&sums, 128));
    OK(cudaMemset(sums, 0, 128));
    added<<<4, 32>>>(sums, true);
    OK(cudaMemset(sums, 0, 128));
    handed<<<4, 32>>>(sums, sums + 8, 1);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(sums, 0, 128));
    handed<<<4, 32>>>(sums, sums + 8, 2);
    OK(cudaMemset(sums, 0, 128));
    alone<<<2, 32>>>(sums, sums + 8);
    OK(cudaMemcpy(&host, sums + 9, 4, cudaMemcpyDeviceToHost));
    CHECK(host == 1);
    OK(cudaFree(sums));
    return 0;
}
