// expect: hang 13, exit 0
// says: no warp can go on, and no other device is at work
// run: --devices 2
// A kernel that waits for another device's, which the host launches only when the first has ended.
#include "check.h"
#include "atomic.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void meet(int *ours, int *theirs)
{
    Flag(*theirs).store(1, cuda::memory_order_release);
    while (!Flag(*ours).load(cuda::memory_order_acquire)) {}
}

int main()
{
    int *flags[2];
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceEnablePeerAccess(!d, 0));
        OK(cudaMalloc(&flags[d], sizeof *flags[d]));
        OK(cudaMemset(flags[d], 0, sizeof *flags[d]));
        OK(cudaDeviceSynchronize());
    }
    OK(cudaSetDevice(0));
    meet<<<1, 1>>>(flags[0], flags[1]);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
}
