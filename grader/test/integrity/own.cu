// Lesson 1, as no other file of ours has it: a submission that shares nothing with the solution.
#include "01-first-kernel.h"
#include <stdio.h>
#include <stdlib.h>
static void must(cudaError_t e) { if (e) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } }
// Four elements a thread, backwards, with a skewed start.
__global__ void add4(float *c, const float *a, const float *b, int n)
{
    int base = (gridDim.x - 1 - blockIdx.x) * (4 * blockDim.x) + threadIdx.x;
    #pragma unroll
    for (int k = 3; k >= 0; k--) {
        int at = base + k * blockDim.x;
        if (at < n) {
            float left = a[at], right = b[at];
            c[at] = left + right;
        }
    }
}
void vector_add(float *c, const float *a, const float *b, int n)
{
    float *d;
    size_t each = ((size_t)n * 4 + 255) / 256 * 256;
    if (n == 0) return;
    must(cudaMalloc(&d, 3 * each));
    float *x = d, *y = d + each / 4, *z = d + each / 2;
    must(cudaMemcpy(x, a, n * 4ull, cudaMemcpyHostToDevice));
    must(cudaMemcpy(y, b, n * 4ull, cudaMemcpyHostToDevice));
    add4<<<(n + 1023) / 1024, 256>>>(z, x, y, n);
    must(cudaGetLastError());
    must(cudaMemcpy(c, z, n * 4ull, cudaMemcpyDeviceToHost));
    must(cudaFree(d));
}
