// expect: SUSPECT
// says: went to the host in the call
// Four of the functions are mended. The runs are sorted by the host, in managed memory.
#include "06-debugging.h"

#include <algorithm>

static int blocks_for(int n) { return (n + RUN - 1) / RUN; }

__global__ void subtract(float *out, const float *in, int n)
{
    int i = blockIdx.x * RUN + threadIdx.x;
    if (i + 1 < n)
        out[i] = in[i + 1] - in[i];
}

extern "C" void differences(float *out, const float *in, int n)
{
    if (n > 1)
        subtract<<<blocks_for(n), RUN>>>(out, in, n);
}

__global__ void smooth_run(float *out, const float *in, int n, int rounds)
{
    __shared__ float run[2][RUN];
    int t = threadIdx.x, i = blockIdx.x * RUN + t, count = min(RUN, n - blockIdx.x * RUN);
    float mine = t < count ? in[i] : 0;
    for (int r = 0; r < rounds; r++) {
        run[r % 2][t] = mine;
        __syncthreads();
        if (t < count)
            mine = (run[r % 2][max(t - 1, 0)] + 2 * mine + run[r % 2][min(t + 1, count - 1)]) / 4;
    }
    if (t < count)
        out[i] = mine;
}

extern "C" void smooth(float *out, const float *in, int n, int rounds)
{
    if (n)
        smooth_run<<<blocks_for(n), RUN>>>(out, in, n, rounds);
}

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * RUN + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" void sort_runs(float *out, const float *in, int n)
{
    float *both;
    if (n == 0)
        return;
    cudaMallocManaged(&both, n * sizeof *both);
    move<<<blocks_for(n), RUN>>>(both, in, n);
    cudaDeviceSynchronize();
    for (int from = 0; from < n; from += RUN)
        std::sort(both + from, both + std::min(from + RUN, n));
    move<<<blocks_for(n), RUN>>>(out, both, n);
    cudaDeviceSynchronize();
    cudaFree(both);
}

__global__ void average(float *out, const float *in, int rows, int cols)
{
    int c = blockIdx.x * RUN + threadIdx.x;
    float sum = 0;
    for (int r = 0; c < cols && r < rows; r++)
        sum += in[(size_t)r * cols + c];
    if (c < cols)
        out[c] = sum / rows;
}

extern "C" void column_means(float *out, const float *in, int rows, int cols)
{
    if (cols)
        average<<<blocks_for(cols), RUN>>>(out, in, rows, cols);
}

__global__ void multiply(float *out, const float *in, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = factor * in[i];
}

extern "C" int gain(float *out, const float *in, float factor, int n, int threads)
{
    if (n)
        multiply<<<(n + threads - 1) / threads, threads>>>(out, in, factor, n);
    return cudaGetLastError();
}
