// expect: race 18, race 26, race 35, race 43
// says: thread (1,0,0) reads what an atomic of thread (0,0,0) writes in shared memory, with no barrier between
// says: Put a __syncwarp() or a __syncthreads() between the two.
// says: an atomic of thread (32,0,0) also writes what thread (0,0,0) writes in shared memory, with no barrier between
// says: Put a __syncthreads() that all threads reach between the two lines.
// says: thread (0,0,0) of block (1,0,0) reads what an atomic of thread (0,0,0) of block (0,0,0) writes, at byte 0
// says: Do the second part in another launch; where any order will do, let the read be an atomic, too
// says: thread (0,0,0) reads what thread (32,0,0) writes in shared memory, with no barrier between
// A plain read or write beside an atomic: the atomic is named, and more of them are advised where it has none yet. Where there is none
// at all, the advice is as ever.
#include "check.h"

__global__ void pop(int *out)
{
    __shared__ int top;
    if (threadIdx.x == 0) top = 15;
    __syncthreads();
    if (top >= 0)                                               // 18
        out[threadIdx.x] = atomicAdd(&top, -1);
}

__global__ void clear(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    if (threadIdx.x >= 32) atomicAdd(&count, 1);               // 26
    __syncthreads();
    out[threadIdx.x] = count;
}

__device__ int stop;

__global__ void give_up()
{
    if (stop) return;                                           // 35
    atomicExch(&stop, 1);
}

__global__ void add(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 32) sum = out[0];
    if (threadIdx.x == 0) out[1] = sum;                         // 43
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    OK(cudaMemset(out, 0, 64 * sizeof *out));
    pop<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    clear<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    give_up<<<2, 1>>>();
    OK(cudaDeviceSynchronize());
    add<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
