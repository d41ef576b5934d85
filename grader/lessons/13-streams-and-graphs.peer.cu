// What `diffuse` is timed against: the same steps, each launched by itself, one after the other in the default stream.
#include "13-streams-and-graphs.h"

enum { THREADS = 256 };

__global__ void diffuse_kernel(float *next, const float *now, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        next[i] = 0.25f * now[i > 0 ? i - 1 : n - 1] + 0.5f * now[i] + 0.25f * now[i + 1 < n ? i + 1 : 0];
}

extern "C" void launches(float *out, float *spare, const float *in, int n, int steps)
{
    float *arrays[2] = {out, spare};
    cudaMemcpyAsync(arrays[steps % 2], in, n * sizeof *in, cudaMemcpyDeviceToDevice);
    for (int left = steps; left > 0; left--)
        diffuse_kernel<<<(n + THREADS - 1) / THREADS, THREADS>>>(arrays[(left - 1) % 2], arrays[left % 2], n);
}
