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

// What a thread has fenced is told by an arrival that is relaxed, too; and such a barrier keeps the blocks until others are done.
__global__ void __cluster_dims__(2) relaxed(unsigned *out)
{
    __shared__ unsigned buffer[32];
    __shared__ unsigned long long full;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned other = cluster.block_rank() ^ 1;
    if (threadIdx.x == 0) {
        init(here(&full), 32);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    buffer[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
    arrive(there(here(&full), other));
    wait(here(&full), 0);
    out[blockIdx.x * 32 + threadIdx.x] = cluster.map_shared_rank(buffer, other)[threadIdx.x];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
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
    relaxed<<<2, 32>>>(out);
    OK(cudaMemcpy(got, out, 64 * sizeof *got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(got[i] == (i / 32 ^ 1) * 100u + i % 32);
    OK(cudaFree(out));
    return 0;
}
