// expect: race 17, race 17, race 28, race 37
// says: thread (0,0,0) of block (2,0,0) reads what thread (64,0,0) of block (1,0,0) writes, at byte 768
// says: thread (0,0,0) of block (2,0,0) reads what thread (64,0,0) of block (1,0,0) writes, at byte 1536
// says: thread (0,0,0) reads what thread (1,0,0) writes, at byte 1049092
// says: thread (32,0,0) also writes what thread (0,0,0) writes, at byte 1152
// Many blocks, each warp of which does the same to the row behind that of the warp before it: they are noted together, and yet it is
// told who it was.
#include "check.h"

enum { BLOCKS = 2048, THREADS = 128, COUNT = BLOCKS * THREADS };

// Block 0 runs alone. Of the others, the second block of a pair reads what the first writes, each warp a row of another.
template <class T> __global__ void pairs(T *rows, T *out)
{
    int t = threadIdx.x, pair = (blockIdx.x + 1) / 2 * THREADS, i = pair + t;
    if (blockIdx.x % 2) rows[i] = i;
    else out[i] = rows[pair + (t ^ 64)];                        // 17
}

// A warp that has met may read what its other lanes wrote.
__global__ void steps(int *met, int *unmet, int *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (!blockIdx.x) return;
    met[i] = i;
    __syncwarp();
    unmet[i] = i;
    out[i] = met[i ^ 1] + unmet[i ^ 1];                         // 28
}

// Each row of a warp's two is the next warp's, too.
__global__ void twice(int *rows)
{
    int i = blockIdx.x * 2 * THREADS + threadIdx.x;
    if (!blockIdx.x) return;
    rows[i + 32] = -i;
    rows[i] = i;                                                // 37
}

int main()
{
    char *memory;
    OK(cudaMalloc(&memory, 24 * COUNT));
    int *a = (int *)memory, *b = a + COUNT, *c = b + COUNT;
    pairs<<<BLOCKS, THREADS>>>(a, b);
    OK(cudaDeviceSynchronize());
    pairs<<<BLOCKS, THREADS>>>((double *)memory, (double *)memory + COUNT);
    OK(cudaDeviceSynchronize());
    steps<<<BLOCKS, THREADS>>>(a, b, c);
    OK(cudaDeviceSynchronize());
    twice<<<BLOCKS, THREADS>>>(a);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(memory));
    return 0;
}
