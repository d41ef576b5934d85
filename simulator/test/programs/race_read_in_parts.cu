// expect: race 11
// run: --spread 1 --threads 3
// says: of write(int*) writes
// Blocks beside each other read a line each, of which two of the launch before have read. Another stream's kernel stores there.
#include "check.h"

enum { BLOCKS = 100 };

__global__ void read(const int *x, int *out, int blocks)
{
    out[blockIdx.x * 32 + threadIdx.x] = x[blockIdx.x / blocks * 32 + threadIdx.x];
}

__global__ void write(int *x) { *x = 1; }

int main()
{
    int *x, *out;
    cudaStream_t a, b;
    OK(cudaMalloc(&x, BLOCKS * 128));
    OK(cudaMalloc(&out, BLOCKS * 128));
    OK(cudaMemset(x, 0, BLOCKS * 128));
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    read<<<BLOCKS, 32, 0, a>>>(x, out, 2);
    OK(cudaDeviceSynchronize());
    read<<<BLOCKS, 32, 0, a>>>(x, out, 1);
    write<<<1, 1, 0, b>>>(x + 33 * 32 + 3);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
