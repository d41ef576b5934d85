// expect: race 16, race 44, race 49, race 21, race 55, race 61
// Atomics of a kernel don't hide what came before it, or what runs beside it, from copies and kernels that are ordered with that kernel
// alone.
#include "check.h"

__global__ void add(int *a) { atomicAdd(&a[threadIdx.x], 1); }
__global__ void take(int *a, int *was) { was[threadIdx.x] = atomicExch(&a[threadIdx.x], 7); }

__global__ void store(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}

__global__ void add_beside(int *a)
{
    atomicAdd(&a[threadIdx.x], 1);          // 16: the fill before the other kernel
}

__global__ void take_beside(int *a, int *was)
{
    was[threadIdx.x] = atomicExch(&a[threadIdx.x], 7); // 21: the kernel before that
}

int main()
{
    enum { BYTES = 32 * sizeof(int) };
    int *a, *b, *c, *host;
    cudaStream_t one, two;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    OK(cudaMalloc(&c, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaDeviceSynchronize());

    OK(cudaMemsetAsync(a, 0, BYTES, one));
    add<<<4, 32, 0, one>>>(a);
    add_beside<<<4, 32, 0, two>>>(a);                                                       // 16
    OK(cudaDeviceSynchronize());
    add<<<4, 32, 0, one>>>(a);
    add<<<4, 32, 0, two>>>(a);
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, two));                       // 44
    OK(cudaDeviceSynchronize());
    take<<<1, 32, 0, one>>>(a, b);
    take<<<1, 32, 0, two>>>(a, c);
    take<<<1, 32, 0, two>>>(a, c);
    OK(cudaMemsetAsync(a, 0, BYTES, two));                                                  // 49
    OK(cudaDeviceSynchronize());
    store<<<1, 32, 0, one>>>(a);
    take<<<1, 32, 0, one>>>(a, b);
    take_beside<<<1, 32, 0, two>>>(a, c);                                                   // 21
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, one));                       // 55
    add<<<4, 32, 0, one>>>(a);
    take<<<1, 32, 0, two>>>(a, c);
    OK(cudaDeviceSynchronize());
    take<<<1, 32, 0, one>>>(a, b);
    take<<<1, 32, 0, two>>>(a, c);
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, one));                       // 61
    OK(cudaDeviceSynchronize());

    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
    OK(cudaFreeHost(host));
}
