// expect: race 12, race 20, race 28, race 37, race 46, exit 0
// says: an atomic of thread (0,0,0) of block (1,0,0) also writes what thread (0,0,0) of block (0,0,0) writes
// says: Do the second part in another launch; where any order will do, let the write be an atomic
// says: thread (0,0,0) of block (0,0,0) reads what an atomic of thread (0,0,0) of block (1,0,0) writes
// says: an atomic of thread (32,0,0) also writes what thread (0,0,0) writes in shared memory
// A block's own later access is in order with its earlier one, and does not hide that from others.
#include "check.h"

__global__ void store_then_add(int *x)
{
    if (blockIdx.x == 0) *x = 5;
    atomicAdd(x, 1);                                            // 12
}

__global__ void store_then_maximum(int *x)
{
    if (blockIdx.x == 0 && threadIdx.x < 32) x[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x >= 32)
        atomicMax(x + threadIdx.x - 32, (int)blockIdx.x);       // 20
}

__global__ void read_then_add(int *x)
{
    int enough = 0;
    if (blockIdx.x == 0)
        enough = *(volatile int *)(x + 1)
               + x[0];                                          // 28
    if (!enough) atomicAdd(x, 1);
}

__global__ void in_shared(int *x)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncwarp();
    atomicAdd(&sum, 1);                                         // 37
    __syncthreads();
    x[threadIdx.x] = sum;
}

__global__ void fenced(int *x)
{
    if (blockIdx.x == 0) *x = 5;
    __threadfence();
    atomicAdd(x, 1);                                            // 46
}

// The first block tells the others that it has stored.
__global__ void told(int *x, int *flag)
{
    if (blockIdx.x == 0) {
        *x = 5;
        atomicAdd(x, 1);
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (!atomicAdd(flag, 0)) {}
        __threadfence();
        atomicAdd(x, 1);
    }
}

int main()
{
    int *x;
    OK(cudaMalloc(&x, 256));
    OK(cudaMemset(x, 0, 256));
    store_then_add<<<4, 1>>>(x);
    OK(cudaDeviceSynchronize());
    store_then_maximum<<<4, 64>>>(x);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(x, 0, 256));
    read_then_add<<<4, 1>>>(x);
    OK(cudaDeviceSynchronize());
    in_shared<<<1, 64>>>(x);
    OK(cudaDeviceSynchronize());
    fenced<<<4, 1>>>(x);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(x, 0, 256));
    told<<<4, 1>>>(x, x + 32);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    return 0;
}
