// expect: unsupported 21
// says: a copy in bulk to another block's shared memory
// Copies in bulk to another block's shared memory are not done here, and said not to be.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) push(int *out)
{
    __shared__ alignas(16) int from[4], to[4];
    __shared__ unsigned long long arrived;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned here = (unsigned)__cvta_generic_to_shared(to), mine = (unsigned)__cvta_generic_to_shared(&arrived);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(mine) : "memory");
    if (threadIdx.x < 4) from[threadIdx.x] = threadIdx.x;
    cluster.sync();
    unsigned rank = cluster.block_rank() ^ 1;
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];"
                     :: "r"((here & 0xffffff) | rank << 24), "r"((unsigned)__cvta_generic_to_shared(from)), "r"((mine & 0xffffff) | rank << 24) : "memory");
    cluster.sync();
    out[threadIdx.x] = to[threadIdx.x % 4];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    push<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorNotSupported);
    return 0;
}
