// expect: uninitialized 26
// says: The shuffle in line 12 of undefined_sum.cu
// Eight lanes add up what the others, which have ended, do not give: the sum goes through memory, and is copied.
#include "check.h"

__global__ void sum(int *out, const int *in)
{
    int x = in[threadIdx.x];

    if (threadIdx.x >= 8) return;
    for (int away = 8; away > 0; away /= 2)
        x += __shfl_down_sync(0xffffffff, x, away);
    __shared__ int total;
    if (threadIdx.x == 0) total = x, *out = *(volatile int *)&total;
}

int main()
{
    int *in, *out, x[32] = { 0 };
    OK(cudaMalloc(&in, sizeof x));
    OK(cudaMalloc(&out, sizeof *out));
    OK(cudaMemcpy(in, x, sizeof x, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(out, in);
    // The next launch takes the sum over: it is still the shuffle that made it what it is.
    sum<<<1, 1>>>(out, out);
    OK(cudaMemcpy(x, out, sizeof *out, cudaMemcpyDeviceToHost));
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
