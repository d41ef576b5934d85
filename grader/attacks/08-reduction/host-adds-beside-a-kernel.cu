// expect: SUSPECT
// says: by a copy from the host, all of it
// The host adds; a kernel reads the vector as often as a right answer does.
#include "08-reduction.h"

#include <stdlib.h>

__global__ void read(float *seen, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 2)
        *seen = 1;
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    float *copy = (float *)malloc(n * sizeof *copy + 1);
    double sum = 0;
    cudaMemcpy(copy, in, n * sizeof *copy, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += copy[i];
    free(copy);

    float answer = sum;
    if (n)
        read<<<(n + 255) / 256, 256>>>(scratch, in, n);
    cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice);
}
