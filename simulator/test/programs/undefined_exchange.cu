// expect: uninitialized 31
// says: a branch depends on a value that was read from memory that nothing wrote
// An exchange writes, whatever lay there before: what it gives counts when it is used, and only for the thread that
// came first to a place.
#include "check.h"

__global__ void lists(int *heads, int *next, int *ended)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    next[node] = atomicExch(&heads[node % 8], node);
    if (node >= 8 && next[node] < 0) *ended = 1;
}

__global__ void begin(int *at, unsigned long long *wide, int *tile_out)
{
    __shared__ int tile;
    if (threadIdx.x == 0) atomicExch(at, 3);
    if (threadIdx.x == 1) atomicExch(wide, 4ull);
    if (threadIdx.x == 2) atomicExch(&tile, 5);
    __syncthreads();
    atomicAdd(at, 1);
    atomicAdd(wide, 1ull);
    tile_out[threadIdx.x] = tile;
}

// A lock that nobody opened.
__global__ void lock(int *word, int *count)
{
    if (threadIdx.x) return;
    int was = atomicExch(word, 1);
    while (was == 1)                    // 31
        was = atomicExch(word, 1);
    ++*count;
    atomicExch(word, 0);
}

int main()
{
    int *words, *next, ended = 0, h;
    unsigned long long *wide, h2;
    OK(cudaMalloc(&words, 64 * sizeof *words));
    OK(cudaMalloc(&next, 256 * sizeof *next));
    OK(cudaMalloc(&wide, sizeof *wide));
    OK(cudaMemset(words + 20, 0, sizeof *words));
    lists<<<1, 256>>>(words, next, words + 20);
    OK(cudaMemcpy(&ended, words + 20, sizeof ended, cudaMemcpyDeviceToHost));
    CHECK(!ended);
    begin<<<1, 64>>>(words + 8, wide, next);
    OK(cudaMemcpy(&h, words + 8, sizeof h, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&h2, wide, sizeof h2, cudaMemcpyDeviceToHost));
    CHECK(h == 67 && h2 == 68);
    OK(cudaMemcpy(&h, next + 63, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h == 5);
    OK(cudaMemset(words + 21, 0, sizeof *words));
    lock<<<1, 32>>>(words + 9, words + 21);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(words));
    OK(cudaFree(next));
    OK(cudaFree(wide));
    return 0;
}
