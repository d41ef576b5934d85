// expect: unsupported 8, exit 0
// says: discard.global.L2
// An instruction that the simulated device has not learnt is refused by name, at its line.
#include "check.h"

__global__ void forget(float *out)
{
    asm("discard.global.L2 [%0], 128;" :: "l"(out));
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
