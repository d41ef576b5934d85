// expect: exit 0
// counts: counted l1tex__t_requests_pipe_lsu_mem_dshared_op_ld.sum 20
// counts: counted l1tex__t_sectors_pipe_lsu_mem_dshared_op_ld.sum 116
// counts: counted l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum 8
// counts: counted l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum 40
// counts: counted l1tex__t_requests_pipe_lsu_mem_dshared_op_atom.sum 12
// counts: counted l1tex__t_sectors_pipe_lsu_mem_dshared_op_atom.sum 44
// counts: counted l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 8
// What the H200's ncu counts of accesses to other blocks' shared memory: four blocks, of a warp each.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4) counted(unsigned *out)
{
    __shared__ unsigned own[256], changed[256];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned lane = threadIdx.x, rank = cluster.block_rank(), sum = 0;
    for (unsigned i = lane; i < 256; i += 32) own[i] = i, changed[i] = 0;
    cluster.sync();
    volatile unsigned *next = cluster.map_shared_rank(own, (rank + 1) % 4), *some = cluster.map_shared_rank(own, (lane + 1 + rank) % 4);
    sum += next[lane];                          // side by side: 4 sectors
    sum += next[2 * lane];                      // every second word: 8
    sum += next[5];                             // all the same word: 1
    sum += next[8 * (lane % 4)];                // 4 sectors, each for 8 lanes
    sum += some[8 * (lane / 8)];                // in turns from all four blocks, its own too
    volatile unsigned *to = cluster.map_shared_rank(changed, (rank + 1) % 4);
    to[lane] = lane;                            // 4
    to[64 + 3 * (lane / 2) + lane % 2] = lane;  // 6
    unsigned *adds = cluster.map_shared_rank(changed, (rank + 2) % 4);
    atomicAdd(adds + 192 + lane, 1u);           // 4
    sum += atomicAdd(adds + 224, 1u);           // one word
    atomicMax(cluster.map_shared_rank(changed, (lane + 1 + rank) % 4) + 232 + lane / 8, lane);
    cluster.sync();
    sum += ((volatile unsigned *)changed)[lane];
    out[blockIdx.x * 32 + lane] = sum;
}

int main()
{
    unsigned *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    counted<<<4, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
