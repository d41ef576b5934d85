// expect: race 18, race 39, race 72, exit 0
// says: thread (32,0,0) reads what thread (0,0,0) writes in shared memory, with no barrier between
// says: Put a __syncthreads() that all threads reach between the two lines.
// says: reached the barrier in line 69 fewer times than the others
// A flag of the block is tested and cleared with no barrier between: some warps leave the loop a round earlier. Told is the race for
// the flag, and not what follows from it: that the barriers of those that go on order nothing that these warps did.
#include "check.h"

// All clear it, and more is shared than the flag.
__global__ void all_clear(int *cells)
{
    __shared__ int going, row[128];
    int t = threadIdx.x;
    row[t] = cells[t];
    going = 1;
    __syncthreads();
    while (1) {
        if (!going) break;                                      // 18
        going = 0;
        __syncthreads();
        int left = t ? row[t - 1] : 0;
        __syncthreads();
        if (left > row[t]) row[t] = left, going = 1;
        __syncthreads();
    }
    cells[t] = row[t];
}

// The last thread clears it.
__global__ void last_clears(int *out)
{
    __shared__ int left;
    int t = threadIdx.x, rounds = 0;
    if (t == 0) left = 3;
    __syncthreads();
    do {
        __syncthreads();
        rounds++;
        if (left == 0) break;                                   // 39
        if (t == 63) left--;
    } while (1);
    out[t] = rounds;
}

// Behind a barrier each: right.
__global__ void right(int *out)
{
    __shared__ int left;
    int t = threadIdx.x, rounds = 0;
    if (t == 0) left = 3;
    __syncthreads();
    while (left) {
        __syncthreads();
        if (t == 0) left--;
        __syncthreads();
        rounds++;
    }
    out[t] = rounds;
}

// No flag: a warp has fewer rounds of its own.
__global__ void fewer_rounds(int *out)
{
    __shared__ int row[64];
    int t = threadIdx.x, sum = 0;
    row[t] = t;
#pragma unroll 1
    for (int n = 0; n < (t < 32 ? 3 : 2); n++) {
        __syncthreads();                                        // 69
        row[t] += n;
    }
    if (t < 32) sum = row[t + 32];                              // 72
    out[t] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 512));
    OK(cudaMemset(out, 0, 512));
    OK(cudaMemset(out, 1, 4));
    all_clear<<<1, 128>>>(out);
    OK(cudaDeviceSynchronize());
    last_clears<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    right<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    fewer_rounds<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
