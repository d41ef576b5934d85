// expect: leak 5, exit 0
// A device that is reset has a heap as at the beginning: of 8 MiB, whatever was its limit, and all of it free.
#include "check.h"

__global__ void take(unsigned bytes, int *taken) { *taken = malloc(bytes) != nullptr; }

static int took(unsigned bytes)
{
    int *taken, seen;
    OK(cudaMalloc(&taken, sizeof *taken));
    take<<<1, 1>>>(bytes, taken);
    OK(cudaMemcpy(&seen, taken, sizeof seen, cudaMemcpyDeviceToHost));
    OK(cudaFree(taken));
    return seen;
}

int main()
{
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    if (!took(9000000) || took(9000000)) return 1;
    OK(cudaDeviceReset());
    if (!took(6000000) || took(9000000)) return 2;
    OK(cudaDeviceReset());
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    return 0;
}
