// expect: SUSPECT
// says: are not what a kernel wrote
// The host adds, and its answer goes to the device and comes back, past a kernel that writes beside it.
#include "01-first-kernel.h"

#include <stdlib.h>

__global__ void read(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    size_t bytes = n * sizeof *c;
    float *there[4], *sum = (float *)malloc(bytes + 1);
    for (int i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
    for (int i = 0; i < 4; i++)
        cudaMalloc((void **)&there[i], bytes + 1);
    cudaMemcpy(there[1], a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(there[2], b, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(there[3], sum, bytes, cudaMemcpyHostToDevice);
    if (n)
        read<<<(n + 255) / 256, 256>>>(there[0], there[1], there[2], n);
    cudaMemcpy(c, there[3], bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++)
        cudaFree(there[i]);
    free(sum);
}
