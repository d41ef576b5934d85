// expect: race 7
// says: of write(int*) writes
// Two kernels that nothing puts in order read the same; what comes behind the first of them writes there.
#include "check.h"

__global__ void write(int *x) { x[threadIdx.x] = 1 + threadIdx.x; }
__global__ void read(const int *x, int *out) { out[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x]; }

int main()
{
    int *x, *out;
    cudaStream_t a, b;
    OK(cudaMalloc(&x, 128));
    OK(cudaMalloc(&out, 3 * 128));
    OK(cudaMemset(x, 0, 128));
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    read<<<2, 32, 0, a>>>(x, out);
    read<<<1, 32, 0, b>>>(x, out + 64);
    write<<<1, 32, 0, a>>>(x);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
