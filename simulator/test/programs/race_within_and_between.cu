// expect: race 20, race 26
// says: what thread (0,1,0) writes
// says: orders those of one block alone
// A line reads what the lanes of its own warp wrote, and what other warps wrote: of the latter it is told, for a
// __syncwarp() would not mend it. Nor is a barrier all that can be said of global memory.
#include "check.h"

enum { N = 32 };

__global__ void multiply(int *out, const int *in)
{
    __shared__ int rows[N][N], columns[N][N];
    int x = threadIdx.x, y = threadIdx.y, sum = 0;

    rows[y][x] = in[y * N + x];
    columns[y][x] = in[x * N + y];
    // __syncthreads() is missing
#pragma unroll 1
    for (int p = 0; p < N; p++)
        sum += rows[y][p] * columns[p][x];
    out[y * N + x] = sum;
}

__global__ void turned(int *a)
{
    int x = a[63 - threadIdx.x];
    a[threadIdx.x] = x;
}

int main()
{
    int *in, *out;
    OK(cudaMalloc(&in, N * N * sizeof *in));
    OK(cudaMalloc(&out, N * N * sizeof *out));
    OK(cudaMemset(in, 0, N * N * sizeof *in));
    multiply<<<1, dim3(N, N)>>>(out, in);
    turned<<<1, 64>>>(in);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
