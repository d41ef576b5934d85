// expect: hang 11, exit 0
// says: no warp can go on, and set(int*) comes after it in stream order
// A kernel that waits for one that is launched behind it on its stream.
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
    int *flag;
    OK(cudaMalloc(&flag, sizeof *flag));
    OK(cudaMemset(flag, 0, sizeof *flag));
    wait<<<1, 32>>>(flag);
    set<<<1, 1>>>(flag);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}
