// expect: exit 0
// run: --kernel ^wanted --launches 2-3
// counts: wanted_first launch__thread_count -1
// counts: unwanted launch__thread_count -1
// counts: wanted_second launch__thread_count 32
// counts: wanted_third launch__thread_count 32
// counts: wanted_last launch__thread_count -1
// Of five launches two are told: the second and the third of kernels that are called so.
#include "check.h"

__global__ void wanted_first(int *p) { p[threadIdx.x] = 1; }
__global__ void unwanted(int *p) { p[threadIdx.x] = 2; }
__global__ void wanted_second(int *p) { p[threadIdx.x] = 3; }
__global__ void wanted_third(int *p) { p[threadIdx.x] = 4; }
__global__ void wanted_last(int *p) { p[threadIdx.x] = 5; }

int main()
{
    int *p;
    OK(cudaMalloc(&p, 32 * sizeof *p));
    wanted_first<<<1, 32>>>(p);
    unwanted<<<1, 32>>>(p);
    wanted_second<<<1, 32>>>(p);
    wanted_third<<<1, 32>>>(p);
    wanted_last<<<1, 32>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
}
