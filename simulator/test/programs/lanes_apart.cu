// expect: exit 0
// counts: together l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 0
// counts: together l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_st.sum 0
// counts: in_conflict l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 0
// counts: in_conflict l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 31
// counts: in_turns l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 28
// counts: in_turns l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: stored_in_turns l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_st.sum 28
// counts: added_in_turns l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_atom.sum 28
// counts: over_the_network l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 28
// counts: vectors l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 0
// counts: compared l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_atom.sum 0
// counts: eight_at_a_time l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 0
// counts: four_at_a_time l1tex__data_pipe_lsu_wavefronts_apart_mem_shared_op_ld.sum 4
// What lanes cost that use shared memory one after the other, in one warp: 32 passes for 32 words, of which 8 at a time need 4;
// over the network, 32 sectors where they fill 4.
#include "check.h"

enum { LANES = 32 };

__global__ void together(int *out)
{
    __shared__ volatile int s[LANES];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = s[LANES - 1 - threadIdx.x];
}

__global__ void in_conflict(int *out)
{
    __shared__ volatile int s[LANES * LANES];
    s[threadIdx.x * LANES] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x * LANES];
}

__global__ void in_turns(int *out)
{
    __shared__ volatile int s[LANES * LANES];
    s[threadIdx.x * LANES] = threadIdx.x;
    __syncwarp();
    int x = 0;
    #pragma unroll 1
    for (int lane = 0; lane < LANES; lane++)
        if (threadIdx.x == lane) x = s[threadIdx.x * LANES];
    out[threadIdx.x] = x;
}

__global__ void stored_in_turns(int *out)
{
    __shared__ volatile int s[LANES];
    #pragma unroll 1
    for (int lane = 0; lane < LANES; lane++)
        if (threadIdx.x == lane) s[threadIdx.x] = lane;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void added_in_turns(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncwarp();
    #pragma unroll 1
    for (int lane = 0; lane < LANES; lane++)
        if (threadIdx.x == lane) atomicAdd(&sum, lane + 2);
    __syncwarp();
    out[threadIdx.x] = sum;
}

template <int COUNT> static __device__ int some_at_a_time(volatile int *s)
{
    int x = 0;
    #pragma unroll 1
    for (int first = 0; first < LANES; first += COUNT)
        if (threadIdx.x / COUNT * COUNT == first) x = s[threadIdx.x];
    return x;
}

__global__ void eight_at_a_time(int *out)
{
    __shared__ volatile int s[LANES];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = some_at_a_time<8>(s);
}

__global__ void four_at_a_time(int *out)
{
    __shared__ volatile int s[LANES];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = some_at_a_time<4>(s);
}

// Its own block's memory, which is the cluster's first.
__global__ void over_the_network(int *out)
{
    __shared__ int s[LANES * LANES];
    s[threadIdx.x * LANES] = threadIdx.x;
    __syncwarp();
    unsigned from = __cvta_generic_to_shared(s + threadIdx.x * LANES);
    int x;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, 0;"
                 " ld.shared::cluster.u32 %0, [there]; }" : "=r"(x) : "r"(from));
    out[threadIdx.x] = x;
}

__global__ void vectors(int4 *out)
{
    __shared__ int4 s[LANES];
    s[threadIdx.x] = make_int4(threadIdx.x, 1, 2, 3);
    __syncwarp();
    out[threadIdx.x] = s[LANES - 1 - threadIdx.x];
}

__global__ void compared(int *out)
{
    __shared__ int s[LANES];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = atomicCAS(s + threadIdx.x, 5, 6);
}

int main()
{
    int4 *out;
    OK(cudaMalloc(&out, LANES * sizeof *out));
    together<<<1, LANES>>>((int *)out);
    in_conflict<<<1, LANES>>>((int *)out);
    in_turns<<<1, LANES>>>((int *)out);
    stored_in_turns<<<1, LANES>>>((int *)out);
    added_in_turns<<<1, LANES>>>((int *)out);
    eight_at_a_time<<<1, LANES>>>((int *)out);
    four_at_a_time<<<1, LANES>>>((int *)out);
    over_the_network<<<1, LANES>>>((int *)out);
    vectors<<<1, LANES>>>(out);
    compared<<<1, LANES>>>((int *)out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
