// expect: exit 0
// A ring of blocks in a cluster: each fills its neighbour's buffer and arrives at the mbarrier there, which says that it is full;
// the neighbour says on a barrier back that it is empty again.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;
enum { ROUNDS = 6, SIZE = 4 };

__device__ static unsigned here(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ static unsigned there(unsigned address, unsigned rank)
{
    unsigned to;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
    return to;
}

__device__ static void init(unsigned at, unsigned count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at), "r"(count) : "memory"); }

__device__ static void arrive(unsigned at)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(at) : "memory");
}

__device__ static void wait(unsigned at, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra again;\n"
                 "}" :: "r"(at), "r"(parity) : "memory");
}

__global__ void __cluster_dims__(SIZE) ring(unsigned *out)
{
    __shared__ unsigned buffer[64];
    __shared__ unsigned long long full, empty;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), next = (rank + 1) % SIZE, before = (rank + SIZE - 1) % SIZE, value = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) init(here(&full), 64), init(here(&empty), 64);
    cluster.sync();
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round) wait(here(&empty), (round - 1) % 2);
        cluster.map_shared_rank(buffer, next)[threadIdx.x ^ 1] = value;
        arrive(there(here(&full), next));
        wait(here(&full), round % 2);
        value += 3 * buffer[threadIdx.x];
        arrive(there(here(&empty), before));
    }
    out[blockIdx.x * 64 + threadIdx.x] = value;
    cluster.sync();
}

int main()
{
    enum { N = 2 * SIZE * 64 };
    unsigned *out, got[N], now[N], next[N];
    OK(cudaMalloc(&out, sizeof got));
    ring<<<2 * SIZE, 64>>>(out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) now[i] = i;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            int block = i / 64, from = block / SIZE * SIZE + (block + SIZE - 1) % SIZE;
            next[i] = now[i] + 3 * now[from * 64 + (i % 64 ^ 1)];
        }
        for (int i = 0; i < N; i++) now[i] = next[i];
    }
    for (int i = 0; i < N; i++) CHECK(got[i] == now[i]);
    OK(cudaFree(out));
    return 0;
}
