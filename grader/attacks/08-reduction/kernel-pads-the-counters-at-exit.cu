// expect: SUSPECT
// says: by a copy from the host, all of it
// The host adds; when the program ends a kernel reads what should have been read.
#include "08-reduction.h"

#include <stdlib.h>

static long total;

__global__ void read(float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += 1;
}

static void pad(void)
{
    float *memory;
    cudaMalloc((void **)&memory, total * sizeof *memory);
    cudaMemset(memory, 0, total * sizeof *memory);
    read<<<(total + 255) / 256, 256>>>(memory, total);
    cudaDeviceSynchronize();
    cudaFree(memory);
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    float *copy = (float *)malloc(n * sizeof *copy + 1);
    double sum = 0;
    cudaMemcpy(copy, in, n * sizeof *copy, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += copy[i];
    free(copy);
    if (!total)
        atexit(pad);
    total += n;

    float answer = sum;
    cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice);
}
