// expect: hang 15, exit 0
// says: no warp can go on, on any of 2 devices
// run: --devices 2 --late
// Two devices send each other a number, twice, and nobody waits in between. One that is late finds the second where it waits
// for the first: with a place for each it does not.
#include "check.h"
#include "atomic.h"

using Place = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void swap(int *ours, int *theirs, int number)
{
    Place place(*ours);
    Place(*theirs).store(number, cuda::memory_order_relaxed);
    while (place.load(cuda::memory_order_relaxed) != number) {}
}

static int *places[2];

static void swap_all(int at, int number)
{
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        swap<<<1, 1>>>(places[d] + at, places[!d] + at, number);
    }
}

static cudaError_t wait_for_all()
{
    OK(cudaSetDevice(0));
    cudaError_t error = cudaDeviceSynchronize();
    OK(cudaSetDevice(1));
    return error ? error : cudaDeviceSynchronize();
}

int main()
{
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceEnablePeerAccess(!d, 0));
        OK(cudaMalloc(&places[d], 2 * sizeof *places[d]));
        OK(cudaMemset(places[d], 0, 2 * sizeof *places[d]));
    }
    OK(wait_for_all());
    for (int call = 1; call <= 4; call++)
        swap_all(call % 2, call);
    OK(wait_for_all());
    swap_all(0, 5);
    swap_all(0, 6);
    CHECK(wait_for_all() == cudaErrorLaunchTimeout);
}
