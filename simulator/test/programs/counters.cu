// expect: exit 0
// counts: copy l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 8
// counts: copy l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32
// counts: copy l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 32
// counts: copy launch__thread_count 256
// counts: shifted l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 5
// counts: strided l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32
// counts: wide l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 1
// counts: wide l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 16
// counts: same_place l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 1
// counts: scattered l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 16
// counts: columns l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 32
// counts: columns l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 31
// counts: columns l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
// counts: padded l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: broadcast l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: broadcast l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 1
// counts: one_sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 31
// counts: many_sums l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// counts: reduce l1tex__t_requests_pipe_lsu_mem_global_op_red.sum 1
// counts: reduce l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 0
// counts: ticket l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 1
// counts: ticket l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 1
// The counters of single warps, each worked out by hand.
#include "check.h"

__global__ void copy(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void shifted(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x + 1]; }
__global__ void strided(float *out, const float *in) { out[threadIdx.x] = in[8 * threadIdx.x]; }
__global__ void wide(float4 *out, const float4 *in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void same_place(float *out, const float *in) { out[threadIdx.x] = in[3]; }
__global__ void scattered(float *out, float x) { out[threadIdx.x * 5 % 32 * 4] = x; }

__global__ void columns(float *out)
{
    __shared__ float tile[32 * 32];
    for (int row = threadIdx.x / 32; row < 32; row++) tile[32 * row + threadIdx.x] = row;
    __syncthreads();
    out[threadIdx.x] = tile[32 * threadIdx.x];
}

__global__ void padded(float *out)
{
    __shared__ float tile[32 * 33];
    for (int row = threadIdx.x / 32; row < 32; row++) tile[33 * row + threadIdx.x] = row;
    __syncthreads();
    out[threadIdx.x] = tile[33 * threadIdx.x];
}

__global__ void broadcast(float *out)
{
    __shared__ float one;
    if (threadIdx.x == 0) one = out[5];
    __syncthreads();
    out[threadIdx.x] = one;
}

__global__ void one_sum(int *out)
{
    __shared__ int sums[32];
    sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[0], threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}

__global__ void many_sums(int *out)
{
    __shared__ int sums[32];
    sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[threadIdx.x], 1);
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}

__global__ void reduce(int *out) { atomicAdd(out, 1); }
__global__ void ticket(int *out) { out[1 + threadIdx.x] = atomicAdd(out, 1); }

int main()
{
    enum { BYTES = 4096 };
    float *in, *out;
    OK(cudaMalloc(&in, BYTES));
    OK(cudaMalloc(&out, BYTES));
    OK(cudaMemset(in, 0, BYTES));
    OK(cudaMemset(out, 0, BYTES));
    copy<<<2, 128>>>(out, in);
    shifted<<<1, 32>>>(out, in);
    strided<<<1, 32>>>(out, in);
    wide<<<1, 32>>>((float4 *)out, (const float4 *)in);
    same_place<<<1, 32>>>(out, in);
    scattered<<<1, 32>>>(out, 1);
    columns<<<1, 32>>>(out);
    padded<<<1, 32>>>(out);
    broadcast<<<1, 32>>>(out);
    one_sum<<<1, 32>>>((int *)out);
    many_sums<<<1, 32>>>((int *)out);
    reduce<<<1, 32>>>((int *)out);
    ticket<<<1, 32>>>((int *)out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
