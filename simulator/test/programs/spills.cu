// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// counts: many l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum 2048
// counts: many l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum 2048
// counts: many lts__t_sectors_op_write.sum 10752
// counts: many l1tex__t_requests_pipe_lsu_mem_local_op_st.sum 512
// counts: few l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum 0
// counts: few l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum 0
// What ptxas has no registers for is in no PTX: 16 words of each of 32 warps, a line each, which its native code stores and loads.
// Of what goes to L2, with 40 words that are stored, half is looked up in both partitions.
#include "check.h"

enum { VALUES = 40, THREADS = 1024 };

template <int COUNT>
static __device__ void turn(float *out, const float *in)
{
    float x[COUNT];
    #pragma unroll
    for (int n = 0; n < COUNT; n++)
        x[n] = in[n * THREADS + threadIdx.x];
    __syncthreads();
    #pragma unroll
    for (int n = 0; n < COUNT; n++)
        out[n * THREADS + threadIdx.x] = x[COUNT - 1 - n];
}

// Two blocks on an SM leave each thread 32 registers.
extern "C" __global__ void __launch_bounds__(THREADS, 2) many(float *out, const float *in) { turn<VALUES>(out, in); }
extern "C" __global__ void __launch_bounds__(THREADS, 2) few(float *out, const float *in) { turn<VALUES / 4>(out, in); }

int main()
{
    float *in, *out;
    OK(cudaMalloc(&in, 4 * VALUES * THREADS));
    OK(cudaMalloc(&out, 4 * VALUES * THREADS));
    OK(cudaMemset(in, 0, 4 * VALUES * THREADS));
    many<<<1, THREADS>>>(out, in);
    few<<<1, THREADS>>>(out, in);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
