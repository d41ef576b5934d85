// expect: exit 0
// build: -cudart static
// stderr: linked into it statically
#include <cuda_runtime.h>

__global__ void nothing() {}

int main()
{
    nothing<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess;
}
