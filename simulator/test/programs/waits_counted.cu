// expect: exit 0
// counts: waits ~l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 2
// counts: reads_on l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 100
// Of a wait that many looks make, the first counts and the one that ends it; of a loop that reads on whatever it finds, all.
#include "check.h"

__global__ void waits(int *flag)
{
    if (blockIdx.x == 0) while (!*(volatile int *)flag) continue;
    else *(volatile int *)flag = 1;
}

__global__ void reads_on(int *flag, int *out)
{
    int sum = 0;
#pragma unroll 1
    for (int n = 0; n < 100; n++) sum += *(volatile int *)flag;
    *out = sum;
}

int main()
{
    int *flag;
    OK(cudaMalloc(&flag, 2 * sizeof *flag));
    OK(cudaMemset(flag, 0, 2 * sizeof *flag));
    waits<<<2, 1>>>(flag);
    OK(cudaDeviceSynchronize());
    reads_on<<<1, 1>>>(flag, flag + 1);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(flag));
    return 0;
}
