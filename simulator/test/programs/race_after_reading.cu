// expect: race 12, race 34
// Memory that many have read in peace is looked at again as soon as somebody writes there.
#include "check.h"

enum { N = 4096, WARPS = 4 };

// Three blocks read all of it and tell; the next one writes after them; the last reads and has heard nothing.
__global__ void between_blocks(int *a, int *flag, int *out)
{
    int sum = 0, readers = gridDim.x - 2;
#pragma unroll 1
    for (int i = threadIdx.x; i < N && blockIdx.x != readers; i += 32) sum += a[i]; // 12
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncwarp();
    if (threadIdx.x) return;
    if (blockIdx.x < readers) {
        __threadfence();
        atomicAdd(flag, 1);
    } else if (blockIdx.x == readers) {
        while (atomicAdd(flag, 0) < readers) continue;
        __threadfence();
        a[N / 2] = 5;
    }
}

// Each warp reads its own line number by number; then one of them writes into another's.
__global__ void between_warps(int *out)
{
    __shared__ int line[WARPS][32];
    int warp = threadIdx.x / 32, sum = 0;
    line[warp][threadIdx.x % 32] = threadIdx.x;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 32; k++) sum += line[warp][k];                          // 34
    if (warp == WARPS - 1 && threadIdx.x % 32 == 0) line[1][20] = sum;
    out[threadIdx.x] = sum;
}

int main()
{
    int *a, *out;
    OK(cudaMalloc(&a, N * sizeof *a));
    OK(cudaMalloc(&out, N * sizeof *out));
    OK(cudaMemset(a, 0, N * sizeof *a));
    OK(cudaMemset(out, 0, N * sizeof *out));
    between_blocks<<<5, 32>>>(a, out + N - 1, out);
    OK(cudaDeviceSynchronize());
    between_warps<<<1, 32 * WARPS>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaFree(out));
    return 0;
}
