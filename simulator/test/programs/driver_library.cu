// expect: unsupported 0
// says: the CUDA driver API, which libcurand.so.10 calls, is not supported
// prints: no generator|42
// build: -l:libcurand.so.10
// A library that brings code for a GPU alone: it is told, by name, and the program goes on.
#include <cstdio>
#include <curand.h>

__global__ void answer(int *out) { *out = 42; }

int main()
{
    curandGenerator_t generator;
    int *out, value = 0;
    if (curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_INITIALIZATION_FAILED) puts("no generator");
    cudaMalloc(&out, sizeof *out);
    answer<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(out);
    printf("%d\n", value);
}
