// expect: SUSPECT
// A function of the host, which the stream calls, adds in pinned memory; a kernel fetches the sum.
#include "08-reduction.h"

static float *there;
static int count;

static void add(void *)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += there[i];
    there[count] = sum;
}

__global__ void fetch(float *out, const float *sum) { *out = *sum; }

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    count = n;
    cudaMallocHost(&there, (n + 1ul) * sizeof *there);
    cudaMemcpyAsync(there, in, n * sizeof *there, cudaMemcpyDeviceToHost, 0);
    cudaLaunchHostFunc(0, add, NULL);
    fetch<<<1, 1>>>(out, there + n);
    cudaDeviceSynchronize();
    cudaFreeHost(there);
}
