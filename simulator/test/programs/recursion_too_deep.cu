// expect: bounds 6, exit 0
// says: the stack of the thread is full
// A recursion that never ends runs out of stack, and is named.
#include "check.h"

__device__ __noinline__ int down(const int *p, int n) { return p[n & 3] + down(p, n + p[n & 1] + 1) * 3; }

__global__ void kernel(int *p) { p[8 + threadIdx.x] = down(p, threadIdx.x); }

int main()
{
    int *p;
    OK(cudaMalloc(&p, 64 * sizeof *p));
    OK(cudaMemset(p, 0, 64 * sizeof *p));
    kernel<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
