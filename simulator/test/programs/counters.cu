// expect: exit 0
// counts: copy l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 8
// counts: copy l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 32
// counts: copy l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 32
// counts: copy launch__thread_count 256
// counts: copy smsp__inst_executed.sum 104
// counts: copy smsp__thread_inst_executed.sum 3328
// counts: copy sm__inst_executed_pipe_lsu.sum 24
// counts: copy sm__inst_executed_pipe_fma.sum 24
// counts: copy smsp__inst_executed_op_branch.sum 8
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
// counts: one_sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// counts: sums_of_pairs l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 1
// counts: sums_of_pairs l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 2
// counts: many_sums l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 0
// counts: reduce l1tex__t_requests_pipe_lsu_mem_global_op_red.sum 1
// counts: reduce l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 0
// counts: ticket l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 1
// counts: ticket l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 1
// counts: own_words l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum 1
// counts: own_words l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum 4
// counts: scattered_words l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum 32
// counts: scattered_words l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 0
// counts: parted smsp__sass_branch_targets_threads_divergent.sum 0
// counts: predicated smsp__sass_branch_targets_threads_divergent.sum 0
// counts: to_the_end smsp__sass_branch_targets_threads_divergent.sum 0
// counts: told smsp__sass_branch_targets_threads_divergent.sum 1
// counts: waits_for_memory smsp__sass_branch_targets_threads_divergent.sum 1
// counts: predicated smsp__inst_executed_op_branch.sum 1
// counts: to_the_end smsp__inst_executed_op_branch.sum 2
// counts: told smsp__inst_executed_op_branch.sum 4
// counts: waits_for_memory smsp__inst_executed_op_branch.sum 4
// counts: some_alone smsp__inst_executed_op_branch.sum 2
// counts: three_barriers barrier__inst_executed.sum 12
// counts: three_barriers smsp__sass_branch_targets_threads_divergent.sum 0
// counts: half_warp smsp__thread_inst_executed_per_inst_executed.ratio 16
// counts: half_warp l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio 2
// counts: half_warp l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 0
// counts: doubles sm__inst_executed_pipe_fp64.sum 2
// counts: doubles sm__inst_executed_pipe_xu.sum 0
// counts: roots sm__inst_executed_pipe_xu.sum 1
// counts: roots sm__inst_executed_pipe_lsu.sum 4
// counts: reduce l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum 1
// counts: spread l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum 32
// counts: columns l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum 32
// counts: one_sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 1
// counts: quarters l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 4
// counts: quarters l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: same_quarter l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 2
// counts: same_quarter l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: eight_again l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 4
// counts: in_pairs l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 2
// counts: one_for_eight l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 2
// counts: some_alone l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 4
// counts: copied sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum 1
// counts: copied_apart ~sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum 32
// counts: copied_apart ~l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum 31
// counts: far_doubles l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 4
// counts: far_doubles l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 2
// counts: counted l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum 2
// counts: counted l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum 1
// counts: copy l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum 8
// counts: copy l1tex__t_sectors_least_pipe_lsu_mem_global_op_ld.sum 32
// counts: shifted l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum 2
// counts: shifted l1tex__t_sectors_least_pipe_lsu_mem_global_op_ld.sum 4
// counts: strided l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum 8
// counts: strided l1tex__t_sectors_least_pipe_lsu_mem_global_op_ld.sum 4
// counts: wide l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum 4
// counts: wide l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum 4
// counts: wide l1tex__t_sectors_least_pipe_lsu_mem_global_op_st.sum 16
// counts: scattered l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum 4
// counts: scattered l1tex__t_sectors_least_pipe_lsu_mem_global_op_st.sum 4
// counts: half_warp l1tex__t_sectors_least_pipe_lsu_mem_global_op_st.sum 2
// counts: columns l1tex__requests_pipe_lsu_mem_shared_op_ld.sum 1
// counts: columns l1tex__requests_pipe_lsu_mem_shared_op_st.sum 32
// counts: quarters l1tex__requests_pipe_lsu_mem_shared_op_ld.sum 1
// counts: quarters l1tex__requests_pipe_lsu_mem_shared_op_st.sum 1
// The counters of single warps, each worked out by hand, and all of them what ncu says on an H200 but for those of local memory, which ptxas
// needs none of here; of branches and instructions only those that agree are named.
#include "check.h"
#include <cuda_pipeline.h>

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

// ptxas adds up what all lanes add to one word before one of them does (REDUX).
__global__ void one_sum(int *out)
{
    __shared__ int sums[32];
    sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[0], threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
}

__global__ void sums_of_pairs(int *out)
{
    __shared__ int sums[32];
    sums[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sums[threadIdx.x / 2], threadIdx.x);
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

// The same word of every lane is a line of 128 bytes; one word in eight of each of eight lines is 4 sectors of each.
__global__ void own_words(int *out, int n)
{
    int words[8];
    for (int k = 0; k < 8; k++) words[k] = k + n;
    words[n] = 100;
    out[threadIdx.x] = words[n / 2];
}

__global__ void scattered_words(int *out, int n)
{
    int words[8];
    for (int k = 0; k < 8; k++) words[k] = k + n;
    words[n] = 100;
    out[threadIdx.x] = words[threadIdx.x % 8];
}

__global__ void parted(int *out)
{
    if (threadIdx.x < 16) atomicAdd(out, 1);
    else out[threadIdx.x] = 1;
}

// A few instructions that some lanes skip are predicated, and so is the end; nobody parts. What waits for memory is skipped by a branch:
// that, two parts that meet (BSYNC), and the end.
__global__ void predicated(int *out)
{
    __shared__ int x[32];
    if (threadIdx.x < 5) x[threadIdx.x] = 3;
    __syncthreads();
    if (threadIdx.x < 5) out[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[32 + threadIdx.x] = 1;
}

__global__ void to_the_end(int *out)
{
    if (threadIdx.x > 7) return;
    for (int k = 0; k < 40; k++) out[threadIdx.x + 8 * k] = k / 3;
}

__global__ void told(int *out)
{
    int place = 0;
    if (threadIdx.x == 0) place = atomicAdd(out, 1);
    out[1 + threadIdx.x] = __shfl_sync(~0u, place, 0);
}

__global__ void waits_for_memory(int *out, const int *in)
{
    int x = threadIdx.x;
    if (x < 9) x = 3 * in[x] + 1;
    out[threadIdx.x] = x;
}

__global__ void three_barriers(int *out)
{
    __shared__ int x[128];
    x[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int y = x[127 - threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = y;
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x ^ 1];
}

__constant__ float table[4];
__global__ void half_warp(float *out) { out[threadIdx.x] = table[threadIdx.x % 4]; }
__global__ void doubles(double *out, double x) { out[threadIdx.x] = (x + out[threadIdx.x]) * x; }
__global__ void roots(float *out) { out[threadIdx.x] = __shfl_xor_sync(~0u, rsqrtf(out[threadIdx.x]), 1); }
__global__ void spread(int *out) { atomicAdd(&out[8 * threadIdx.x], 1); }

__global__ void quarters(float4 *out)
{
    __shared__ float4 x[32];
    x[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x ^ 1];
}

// Each quarter of the warp loads the same 128 bytes, each lane other 16 of them than those beside it; or each quarter 16 bytes.
__global__ void eight_again(float4 *out)
{
    __shared__ float4 own[32];
    own[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncwarp();
    out[threadIdx.x] = own[threadIdx.x % 8];
}

// Lanes two apart agree, as in the reads of A in lesson 15's last version.
__global__ void in_pairs(float4 *out)
{
    __shared__ float4 own[32];
    own[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncwarp();
    out[threadIdx.x] = own[threadIdx.x / 16 * 2 + threadIdx.x % 2];
}

__global__ void one_for_eight(float4 *out)
{
    __shared__ float4 own[32];
    own[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncwarp();
    out[threadIdx.x] = own[threadIdx.x / 8];
}

// No two lanes agree, and of the second half of the warp none has a neighbour: its quarters share no pass all the same.
__global__ void some_alone(float4 *out)
{
    __shared__ float4 own[32];
    own[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncwarp();
    if (0x8021ed9c >> threadIdx.x & 1) out[threadIdx.x] = own[threadIdx.x];
}

// All lanes load the same 16 bytes: a pass for each half warp.
__global__ void same_quarter(float4 *out, int n)
{
    __shared__ float4 x[32];
    x[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = x[n];
}

// Every other double: 16 lanes have their 32 words in 16 banks, two in each.
__global__ void far_doubles(double *out)
{
    __shared__ double x[64];
    x[threadIdx.x] = x[threadIdx.x + 32] = 1;
    __syncthreads();
    out[threadIdx.x] = x[2 * threadIdx.x];
}

static __device__ void copy_word(int *out, const int *in)
{
    __shared__ int x[32];
    __pipeline_memcpy_async(&x[threadIdx.x], in, sizeof *in);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = x[threadIdx.x];
}

// The words of a copy by way of L1 lie in its banks, too: in one each, or all in one.
__global__ void copied(int *out, const int *in) { copy_word(out, in + threadIdx.x); }
__global__ void copied_apart(int *out, const int *in) { copy_word(out, in + 32 * threadIdx.x); }

// Two words of one bank, each counted up by half of the lanes.
__global__ void counted(int *out)
{
    __shared__ int x[64];
    x[threadIdx.x] = x[threadIdx.x + 32] = 0;
    __syncthreads();
    atomicAdd(&x[threadIdx.x % 2 * 32], 1);
    __syncthreads();
    out[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 32];
}

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
    sums_of_pairs<<<1, 32>>>((int *)out);
    many_sums<<<1, 32>>>((int *)out);
    reduce<<<1, 32>>>((int *)out);
    ticket<<<1, 32>>>((int *)out);
    own_words<<<1, 32>>>((int *)out, 3);
    scattered_words<<<1, 32>>>((int *)out, 3);
    parted<<<1, 64>>>((int *)out);
    predicated<<<1, 32>>>((int *)out);
    to_the_end<<<1, 32>>>((int *)out);
    told<<<1, 32>>>((int *)out);
    waits_for_memory<<<1, 32>>>((int *)out, (const int *)in);
    three_barriers<<<1, 128>>>((int *)out);
    half_warp<<<1, 16>>>(out);
    doubles<<<1, 32>>>((double *)out, 2);
    roots<<<1, 32>>>(out);
    spread<<<1, 32>>>((int *)out);
    quarters<<<1, 32>>>((float4 *)out);
    same_quarter<<<1, 32>>>((float4 *)out, 3);
    eight_again<<<1, 32>>>((float4 *)out);
    in_pairs<<<1, 32>>>((float4 *)out);
    one_for_eight<<<1, 32>>>((float4 *)out);
    some_alone<<<1, 32>>>((float4 *)out);
    far_doubles<<<1, 32>>>((double *)out);
    copied<<<1, 32>>>((int *)out, (const int *)in);
    copied_apart<<<1, 32>>>((int *)out, (const int *)in);
    counted<<<1, 32>>>((int *)out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
