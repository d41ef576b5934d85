// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// counts: three l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 2
// counts: three l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 0
// counts: three sm__inst_executed_pipe_lsu.sum 5
// counts: pair l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 4
// counts: pair l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 2
// counts: middle l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 8
// counts: unknown l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 56
// counts: stores l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum 4
// counts: stores l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0
// counts: moved l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum 2
// Accesses to neighbouring words of shared memory that ptxas joins, as the native code shows, are counted as what they
// became. Each kernel is one warp; what each takes is worked out by hand from LDS.64, LDS.128 and STS.128.
#include "check.h"

// LDS.128, without the third word: each half of the warp wants 16 words side by side.
__global__ void three(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x, from = t / 4 * 4;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[from] + s[from + 1] * s[from + 3];
}

// LDS.64, 16 bytes apart: of each half's 32 words two want one bank.
__global__ void pair(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[4 * t] * s[4 * t + 1];
}

// No 8 bytes are aligned: two loads, each with four lanes to a bank.
__global__ void middle(float *out, const float *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[4 * t + 1] * s[4 * t + 2];
}

// ptxas does not see that they are aligned: seven loads, each with eight lanes to a bank.
__global__ void unknown(float *out, const float *in)
{
    __shared__ float s[1024];
    int t = threadIdx.x, from = t * 8 % 1024;
    float x = 0;
    s[t] = in[t];
    __syncwarp();
#pragma unroll
    for (int i = 1; i < 8; i++)
        x = x * 1.5f + s[from + i];
    out[t] = x;
}

// STS.128 of 512 bytes.
__global__ void stores(float *out, const float4 *in)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    float4 v = in[t];
    s[4 * t] = v.x;
    s[4 * t + 1] = v.y;
    s[4 * t + 2] = v.z;
    s[4 * t + 3] = v.w;
    __syncwarp();
    out[t] = s[t ^ 1];
}

// The address moves on in between, so the second word is another's neighbour.
__global__ void moved(float *out, const float *in, int by)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    float sum = s[t];
    t += by;
    out[threadIdx.x] = sum + s[t + 1];
}

int main()
{
    float *in, *out;
    OK(cudaMalloc(&in, 512));
    OK(cudaMalloc(&out, 512));
    OK(cudaMemset(in, 0, 512));
    three<<<1, 32>>>(out, in);
    pair<<<1, 32>>>(out, in);
    middle<<<1, 32>>>(out, in);
    unknown<<<1, 32>>>(out, in);
    stores<<<1, 32>>>(out, (float4 *)in);
    moved<<<1, 32>>>(out, in, 32);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
