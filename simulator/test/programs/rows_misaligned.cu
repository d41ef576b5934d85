// expect: misaligned 9, exit 0
// says: read of 4 bytes
// Only the third warp's row is not where its bytes may be. (The first block and the last are traced: there nobody follows.)
#include "check.h"

__global__ void sum(const char *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) out[t] = *(const int *)(x + 4 * t + (t / 32 == 2) * 2);
}

int main()
{
    char *x;
    int *out;
    OK(cudaMalloc(&x, 1024));
    OK(cudaMalloc(&out, 1024));
    OK(cudaMemset(x, 0, 1024));
    OK(cudaMemset(out, 0, 1024));
    sum<<<3, 128>>>(x, out);
    CHECK(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
    return 0;
}
