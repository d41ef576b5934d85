// expect: bounds 12
// says: at byte 64 of the thread's 64 bytes of local memory
// A thread's own array, with an index beyond it.
#include "check.h"

__global__ void sums(int *out, int n)
{
    int own[16];
    for (int i = 0; i < 16; i++) own[i] = i * n;
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += own[(i * 7) % (n + 4)];      // 12
    out[threadIdx.x] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128));
    sums<<<1, 32>>>(out, 16);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
