// expect: SUSPECT
// says: are not what a kernel wrote
// Copies and a kernel move what they should; the answer is the host's.
#include "01-first-kernel.h"

__global__ void read(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] - b[i];
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    size_t bytes = n * sizeof *c;
    float *there[3];
    if (n == 0)
        return;

    for (int i = 0; i < 3; i++)
        cudaMalloc((void **)&there[i], bytes);
    cudaMemcpy(there[1], a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(there[2], b, bytes, cudaMemcpyHostToDevice);
    read<<<(n + 255) / 256, 256>>>(there[0], there[1], there[2], n);
    cudaMemcpy(c, there[0], bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    for (int i = 0; i < 3; i++)
        cudaFree(there[i]);
}
