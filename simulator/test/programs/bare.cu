// expect: bounds 14
// run: --bare
// prints: 40
// Without checks and counters a kernel does what it does, a race and what it copies of nothing are not looked at; but it
// stays within its memory.
#include "check.h"

__global__ void race(int *out, const int *in)
{
    __shared__ int last;
    last = threadIdx.x;
    if (in[threadIdx.x] != 12345) out[threadIdx.x] = 40 + 0 * last;
}
__global__ void beyond(int *out) { out[threadIdx.x + 1024] = 1; }

int main()
{
    int *in, *out, got[64];
    OK(cudaMalloc(&in, sizeof got));
    OK(cudaMalloc(&out, sizeof got));
    race<<<1, 64>>>(out, in);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("%d\n", got[63]);
    CHECK(got[0] == 40 && got[63] == 40);
    OK(cudaMemcpy(got, in, sizeof got, cudaMemcpyDeviceToHost));
    beyond<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}
