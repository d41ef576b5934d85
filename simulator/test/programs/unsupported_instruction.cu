// expect: unsupported 9, exit 0
// says: tanh.approx.f32
// An instruction that the simulated device has not learnt is refused by name, at its line.
#include "check.h"

__global__ void squash(float *out)
{
    float y, x = threadIdx.x;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    out[threadIdx.x] = y;
}

int main()
{
    float *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    squash<<<1, 32>>>(out);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaFree(out));
    return 0;
}
