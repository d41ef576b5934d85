// expect: race 8, barrier 21
// says: wait at the barrier in line 21
// A barrier in a branch: the lanes that do not take it get ahead, to where the others still write.
#include "check.h"

__device__ void put_in_order(int *a, int *b)
{
    int low = min(*a, *b), high = max(*a, *b);
    *a = low, *b = high;
}

__global__ void sort(int *out, const int *in)
{
    __shared__ int run[32];
    int t = threadIdx.x;
    run[t] = in[t];
    __syncthreads();
    for (int phase = 0; phase < 32; phase++)
        if (t % 2 == phase % 2 && t < 31) {
            put_in_order(&run[t], &run[t + 1]);
            __syncthreads();
        }
    out[t] = run[t];
}

int main()
{
    int *out, *in;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    OK(cudaMalloc(&in, 32 * sizeof *in));
    OK(cudaMemset(in, 0, 32 * sizeof *in));
    sort<<<1, 32>>>(out, in);
    cudaDeviceSynchronize();
    return 0;
}
