// expect: uninitialized 14, api 12
// says: its blocks have 2048 threads and may have 1024
// A launch is refused, and the program takes the error away and goes on: what it then copies nothing wrote, and the launch is why.
#include "check.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

int main()
{
    int *out, here[64];
    OK(cudaMalloc(&out, sizeof here));
    fill<<<1, 2048>>>(out);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaMemcpy(here, out, sizeof here, cudaMemcpyDeviceToHost));
    OK(cudaFree(out));
    return 0;
}
