// expect: exit 0
// Atomics of two kernels at a time on one place; copies that events or the host put in order with them; and flags that a copy or fill sets
// for a kernel, which asks with atomics that change nothing.
#include "check.h"

__global__ void add(int *a) { atomicAdd(&a[threadIdx.x], 1); }
__global__ void add_asking(int *a, int *was) { was[threadIdx.x] = atomicAdd(&a[threadIdx.x], 1); }

// Adds a float with a compare-and-swap, which begins with a plain load.
__global__ void swap_in(float *total, float value)
{
    int *at = (int *)total, old = *at, seen;
    while ((seen = atomicCAS(at, old, __float_as_int(__int_as_float(old) + value))) != old) old = seen;
}

__global__ void wait_adding(int *flag) { while (!atomicAdd(flag, 0)) {} }
__global__ void wait_swapping(int *flag) { while (!atomicCAS(flag, 0, 0)) {} }
__global__ void wait_masking(unsigned long long *flag) { while (!atomicOr(flag, 0)) {} }

__global__ void wait_comparing(int *flag, int *got)
{
    while (!atomicCAS(flag, 5, 6)) {}
    got[0] = atomicMax((unsigned *)flag, 0u);
}

int main()
{
    enum { BYTES = 32 * sizeof(int) };
    int *a, *b, *host, *ones;
    cudaStream_t one, two;
    cudaEvent_t event;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    OK(cudaMallocHost(&ones, BYTES));
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaMemset(b, 0, BYTES));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) ones[i] = 1;

    add<<<4, 32, 0, one>>>(a);
    add_asking<<<1, 32, 0, two>>>(a, b);
    add<<<2, 32, 0, two>>>(a);
    OK(cudaEventRecord(event, two));
    OK(cudaStreamWaitEvent(one, event, 0));
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, one));
    OK(cudaStreamSynchronize(one));
    CHECK(host[0] == 7 && host[31] == 7);
    swap_in<<<1, 1, 0, one>>>((float *)b + 8, 1);
    swap_in<<<1, 1, 0, two>>>((float *)b + 8, 2);
    OK(cudaDeviceSynchronize());

    OK(cudaMemset(a, 0, BYTES));
    OK(cudaDeviceSynchronize());
    wait_adding<<<1, 1, 0, one>>>(a);
    OK(cudaMemcpyAsync(a, ones, 4, cudaMemcpyHostToDevice, two));
    OK(cudaDeviceSynchronize());
    wait_swapping<<<1, 1, 0, one>>>(a + 1);
    OK(cudaMemsetAsync(a + 1, 1, 4, two));
    OK(cudaDeviceSynchronize());
    wait_masking<<<1, 1, 0, one>>>((unsigned long long *)(a + 2));
    OK(cudaMemsetAsync(a + 2, 1, 8, two));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(a + 4, ones, 4, cudaMemcpyHostToDevice, two)); // the copy may be the first
    wait_comparing<<<1, 1, 0, one>>>(a + 4, b);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, b, 4, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1);

    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFreeHost(host));
    OK(cudaFreeHost(ones));
}
