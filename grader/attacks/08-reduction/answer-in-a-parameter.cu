// expect: SUSPECT
// says: went to the host in the call
// The host adds, and its sum is the parameter of a kernel that reads the vector to no purpose.
#include "08-reduction.h"

#include <stdlib.h>

__global__ void read(float *out, const float *in, int n, float sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 12345)
        sum = 0;
    if (i == 0)
        *out = sum;
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
    read<<<n / 256 + 1, 256>>>(out, in, n, sum);
}
