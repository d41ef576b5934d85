// expect: bounds 8
// says: read of 8 bytes at byte 8 of the 12-byte allocation made at bounds_astride.cu:14
// Half of what the second thread reads lies behind the end.
#include "check.h"

__global__ void read(long long *out, const long long *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

int main()
{
    long long *in, *out;
    OK(cudaMalloc(&in, 12));
    OK(cudaMalloc(&out, 16));
    OK(cudaMemset(in, 0, 12));
    read<<<1, 2>>>(out, in);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
