// expect: hang 11, hang 17, exit 0
// says: no warp can go on: all that have not ended wait for something that nobody does any more
// Two kernels on two streams, each of which waits for the other first.
#include "check.h"
#include "atomic.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void first(int *flags)
{
    while (!Flag(flags[0]).load(cuda::memory_order_acquire)) {}
    Flag(flags[1]).store(1, cuda::memory_order_release);
}

__global__ void second(int *flags)
{
    while (!Flag(flags[1]).load(cuda::memory_order_acquire)) {}
    Flag(flags[0]).store(1, cuda::memory_order_release);
}

int main()
{
    int *flags;
    cudaStream_t one, two;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaMalloc(&flags, 2 * sizeof *flags));
    OK(cudaMemset(flags, 0, 2 * sizeof *flags));
    OK(cudaDeviceSynchronize());
    first<<<1, 1, 0, one>>>(flags);
    second<<<1, 1, 0, two>>>(flags);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}
