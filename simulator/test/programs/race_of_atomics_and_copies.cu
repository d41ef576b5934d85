// expect: race 48, race 51, race 56, race 59, race 63, race 28, race 10, race 15, race 20, race 25
// says: cudaMemcpyAsync reads what thread (0,0,0) of block (3,0,0) of add(int*) writes, at byte 0 of the 128-byte allocation
// says: cudaMemsetAsync also writes what thread (0,0,0) of block (0,0,0) of take(int*, int*) writes
// says: thread (0,0,0) of block (0,0,0) of read(int const*, int*) reads what thread (0,0,0) of block (0,0,0) of swap(int*) writes
// A kernel's atomics race with copies, fills and other kernels' plain accesses that nothing orders with them.
#include "check.h"

__global__ void read(const int *a, int *to)
{
    to[threadIdx.x] = a[threadIdx.x];       // 10
}

__global__ void store(int *a)
{
    a[threadIdx.x] = threadIdx.x;           // 15
}

__global__ void add_in_block(int *a)
{
    atomicAdd_block(&a[threadIdx.x], 1);    // 20
}

__global__ void add_beside(int *a)
{
    atomicAdd(&a[threadIdx.x], 1);          // 25
}

__global__ void add(int *a) { atomicAdd(&a[threadIdx.x], 1); } // 28
__global__ void take(int *a, int *got) { got[threadIdx.x] = atomicExch(&a[threadIdx.x], 7); }
__global__ void raise(int *a, int *was) { was[threadIdx.x] = atomicMax(&a[threadIdx.x], 100); }
__global__ void swap(int *a) { while (atomicCAS(&a[threadIdx.x], 0, 1)) {} }

int main()
{
    enum { BYTES = 32 * sizeof(int) };
    int *a, *b, *host;
    cudaStream_t one, two;
    OK(cudaMalloc(&a, BYTES));
    OK(cudaMalloc(&b, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaDeviceSynchronize());

    // The copy or fill begins later or earlier.
    add<<<4, 32, 0, one>>>(a);
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, two));                       // 48
    OK(cudaDeviceSynchronize());
    take<<<1, 32, 0, one>>>(a, b);
    OK(cudaMemsetAsync(a, 0, 4, two));                                                      // 51
    OK(cudaDeviceSynchronize());
    take<<<1, 32, 0, one>>>(a, b);
    OK(cudaDeviceSynchronize());
    take<<<1, 32, 0, one>>>(a, b); // what is there already
    OK(cudaMemsetAsync(a, 0, 4, two));                                                      // 56
    OK(cudaDeviceSynchronize());
    swap<<<1, 1, 0, one>>>(a);
    OK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice, two));                        // 59
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, two));                       // 63
    raise<<<1, 32, 0, one>>>(a, b);
    OK(cudaDeviceSynchronize());
    OK(cudaMemsetAsync(a, 0, BYTES, two));                                                  // 28
    add<<<4, 32, 0, one>>>(a);
    OK(cudaDeviceSynchronize());

    // Other kernels
    OK(cudaMemset(a, 0, BYTES));
    OK(cudaDeviceSynchronize());
    swap<<<1, 32, 0, one>>>(a);
    read<<<1, 32, 0, two>>>(a, b);                                                          // 10
    OK(cudaDeviceSynchronize());
    add<<<4, 32, 0, one>>>(a);
    store<<<1, 32, 0, two>>>(a);                                                            // 15
    OK(cudaDeviceSynchronize());
    add<<<4, 32, 0, one>>>(a);
    add_in_block<<<1, 32, 0, two>>>(a);                                                     // 20
    OK(cudaDeviceSynchronize());
    store<<<1, 1, 0, one>>>(a);
    add_beside<<<1, 32, 0, two>>>(a);                                                       // 25
    OK(cudaDeviceSynchronize());

    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFreeHost(host));
}
