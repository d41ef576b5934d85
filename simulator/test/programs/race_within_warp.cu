// expect: race 11, race 20, race 29, race 39, race 50, race 64, race 75, race 89, race 97, race 110
// says: what thread (1,0,0) writes
// Threads of one warp that count on running in step.
#include "check.h"

__global__ void shift(int *out)
{
    __shared__ int tile[33];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) tile[32] = 32;
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

// The second row of lanes reads what the first one wrote, and has read.
__global__ void rows(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    out[t] = tile[t % 16];
}

// So do lanes that have others between them.
__global__ void every_second(int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = t;
    if (t % 2 == 0) out[t] = tile[0];
}

// The first row of lanes writes what both have read.
__global__ void write_after(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    __syncwarp();
    out[t] = tile[t % 16];
    if (t < 16) tile[t] = 0;
}

// The last of four rows does, in global memory.
__global__ void write_last(int *in, int *out)
{
    int t = threadIdx.x, x = in[t % 8];
    __syncwarp();
    in[t % 8 + 8] = 1;
    __syncwarp();
    x += in[t % 8];
    if (t >= 24) in[t % 8] = x;
    out[t] = x;
}

// What all have read, and met, and read again, one of them writes.
__global__ void write_place(int *out)
{
    __shared__ int place;
    int t = threadIdx.x;
    if (t == 0) place = 1;
    __syncthreads();
    out[t] = place;
    __syncwarp();
    out[t] += place;
    if (t == 31) place = 0;
}

// Of what two rows of lanes have read, the first reads it once more, and writes it.
__global__ void write_own(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    __syncwarp();
    out[t] = tile[t % 16];
    if (t < 16) out[t] += tile[t];
    if (t < 16) tile[t] = 0;
}

// Of each place two lanes read, and one writes: in place, each with its neighbour, and, in global memory, with the one opposite.
__global__ void in_place(int *out)
{
    __shared__ int tile[33];
    int t = threadIdx.x;
    tile[t] = out[t];
    if (t == 0) tile[32] = 0;
    __syncwarp();
    int x = tile[t];
    if (x >= 0) x += tile[t + 1];
    tile[t] = x;
    __syncwarp();
    out[t] = tile[t];
}

__global__ void opposite(int *out)
{
    int t = threadIdx.x, x = out[31 - t];
    x += out[t];
    out[t] = x;
}

// Each lane reads its own place, and then the second half of them what the first half writes.
__global__ void first_half(int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    int x = tile[t];
    if (x >= 0) x += tile[t % 16];
    if (t < 16) tile[t] = x;
    out[t] = x;
}

__global__ void none(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    __syncwarp();
    out[t] = tile[t % 16];
    if (t % 2 == 0) out[t] += tile[0];
    __syncwarp();
    if (t < 16) tile[t] = 0;
    __syncwarp();
    if (t >= 16) tile[t % 16] = out[t];
    __syncwarp();
    out[t] = tile[0];
    __syncwarp();
    if (t == 31) tile[0] = 0;
    __syncwarp();
    int x = tile[t % 16];
    x += tile[15 - t % 16];
    __syncwarp();
    if (t < 16) tile[t] = x;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    shift<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    rows<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    every_second<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    write_after<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(out, 0, 64 * sizeof *out));
    write_last<<<1, 32>>>(out, out + 32);
    OK(cudaDeviceSynchronize());
    write_place<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    write_own<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    in_place<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    opposite<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    first_half<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    none<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
