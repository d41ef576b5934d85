// expect: unsupported 8, exit 0
// says: fma.rn.oob.f16 (it has fma.rn.f16)
// An instruction that the simulated device has not learnt is refused by name, at its line, with what comes nearest.
#include "check.h"

__global__ void forget(float *out)
{
    unsigned short h = 0; asm("fma.rn.oob.f16 %0, %0, %0, %0;" : "+h"(h)); out[0] = h;
}

int main()
{
    float *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    forget<<<1, 32>>>(out);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaFree(out));
    return 0;
}
