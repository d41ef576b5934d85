// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// counts: tiles launch__shared_mem_per_block 5120
// counts: tiles launch__shared_mem_config_size 102400
// counts: tiles launch__occupancy_limit_blocks 32
// counts: tiles launch__occupancy_limit_warps 8
// counts: tiles launch__occupancy_limit_shared_mem 20
// counts: tiles sm__maximum_warps_per_active_cycle_pct 100
// counts: tiles launch__waves_per_multiprocessor 2
// counts: greedy launch__shared_mem_per_block 103424
// counts: greedy launch__shared_mem_config_size 233472
// counts: greedy launch__occupancy_limit_shared_mem 2
// counts: greedy sm__maximum_warps_per_active_cycle_pct 25
// counts: greedy launch__waves_per_multiprocessor 0.50
// counts: bare launch__shared_mem_config_size 8192
// counts: bare launch__occupancy_limit_shared_mem 8
// counts: bare launch__occupancy_limit_warps 2
// What is known of a launch from the native image and the device's limits; those of `tiles` and `bare` are what ncu says.
#include "check.h"

__global__ void tiles(float *out)
{
    __shared__ float tile[1024];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void greedy(float *out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[256 * blockIdx.x + threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void bare(float *out) { out[threadIdx.x] = 1; }

int main()
{
    float *out;
    OK(cudaMalloc(&out, 132 * 256 * sizeof *out));
    OK(cudaFuncSetAttribute(greedy, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    tiles<<<dim3(132, 16), 256>>>(out);
    greedy<<<132, 256, 100 << 10>>>(out);
    bare<<<1, 1024>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
