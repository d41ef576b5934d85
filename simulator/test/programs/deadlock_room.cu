// expect: hang 10, exit 0
// says: no warp can go on, and for set(int*) there is no room on the device beside it
// A kernel whose blocks fill the device, and which waits for one on another stream.
#include "check.h"
#include "atomic.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
__global__ void wait(int *flag)
{
    while (!Flag(*flag).load(cuda::memory_order_acquire)) {}
}

__global__ void set(int *flag) { Flag(*flag).store(1, cuda::memory_order_release); }

int main()
{
    int *flag, blocks, sms;
    cudaStream_t one, two;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wait, 1024, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaMalloc(&flag, sizeof *flag));
    OK(cudaMemset(flag, 0, sizeof *flag));
    wait<<<blocks * sms, 1024, 0, one>>>(flag);
    set<<<1, 1, 0, two>>>(flag);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}
