// expect: unsupported 23
// says: an event inside a launch
#include <cuda_runtime.h>
#include "check.h"

__global__ void set(int *p, int value) { p[threadIdx.x] = value; }

int main()
{
    int *p, host[32];
    OK(cudaMalloc(&p, sizeof host));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    OK(cudaLaunchKernelEx(&config, set, p, 3));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3 && host[31] == 3);

    cudaLaunchAttribute inside = {};
    inside.id = cudaLaunchAttributeProgrammaticEvent;
    config.attrs = &inside;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, set, p, 3) == cudaErrorNotSupported);
    config.attrs = NULL;
    CHECK(cudaLaunchKernelEx(&config, set, p, 3) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    return 0;
}
