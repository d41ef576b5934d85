// expect: race 14
// says: what thread
// The second barrier of a loop over tiles is missing: a fast warp overwrites what a slow one still reads.
#include "check.h"

__global__ void sums(int *out, const int *in, int tiles)
{
    __shared__ int tile[128];
    int sum = 0;
    if (threadIdx.x < 128)
        tile[threadIdx.x] = in[threadIdx.x];
    for (int t = 1; t <= tiles; t++) {
        __syncthreads();
        sum += tile[127 - threadIdx.x]; tile[threadIdx.x] = in[threadIdx.x] * t;
    }
    out[threadIdx.x] = sum;
}

int main()
{
    int *in, *out;
    OK(cudaMalloc(&in, 128 * sizeof *in));
    OK(cudaMalloc(&out, 128 * sizeof *out));
    OK(cudaMemset(in, 1, 128 * sizeof *in));
    sums<<<1, 128>>>(out, in, 3);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
