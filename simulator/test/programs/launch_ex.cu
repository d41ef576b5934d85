// expect: unsupported 36
// says: a node that kernels update
// Launches with attributes: an event that is over when the kernel is, and what the device does not have.
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
    cudaEvent_t done;
    cudaStream_t other;
    OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    config.attrs = &inside;
    config.numAttrs = 1;
    inside.id = cudaLaunchAttributeProgrammaticEvent;
    inside.val.programmaticEvent.event = done;
    OK(cudaLaunchKernelEx(&config, set, p, 4));
    OK(cudaStreamWaitEvent(other, done, 0));            // else a race with the kernel
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, other));
    OK(cudaStreamSynchronize(other));
    CHECK(host[0] == 4 && host[31] == 4);
    inside.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    inside.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    CHECK(cudaLaunchKernelEx(&config, set, p, 3) == cudaErrorNotSupported);
    config.attrs = NULL;
    CHECK(cudaLaunchKernelEx(&config, set, p, 3) == cudaErrorInvalidValue);
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(other));
    OK(cudaFree(p));
    return 0;
}
