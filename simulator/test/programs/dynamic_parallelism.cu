// expect: unsupported 11
// says: dynamic parallelism, with the address of kernel _Z5childPi
// build: -rdc=true -lcudadevrt
// A kernel that launches another is refused by name; the others of its program run.
#include "check.h"

__global__ void child(int *p) { p[threadIdx.x] = threadIdx.x; }

__global__ void parent(int *p)
{
    child<<<1, 32>>>(p);
}

int main()
{
    int *p, last;
    OK(cudaMalloc(&p, 128));
    parent<<<1, 1>>>(p);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    child<<<1, 32>>>(p);
    OK(cudaMemcpy(&last, p + 31, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(last == 31);
    OK(cudaFree(p));
    return 0;
}
