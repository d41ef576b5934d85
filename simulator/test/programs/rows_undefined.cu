// expect: uninitialized 13, uninitialized 35
// says: a branch depends on a value that was read from memory that nothing wrote
// says: a branch depends on a value that was computed from memory that nothing wrote
// Some of the rows that warps touch one behind the other are written, and the rest, in the next chunk that is looked at as a whole, are not.
// (The first block and the last are traced: there nobody follows.)
#include "check.h"

enum { CHUNK = 256 << 10, ROW = 128, BYTES = 3 * CHUNK, THREADS = 128 };

__global__ void ask(const int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1 && x[t] == 77) for (int n = 0; n < 100; n++) out[n] = t;   // 13
}

__global__ void fill(int *x)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) x[t] = t;
}

// One of the warps hands on what it got from a lane that took no part.
__global__ void pass(int *to)
{
    int t = threadIdx.x, v = t;
    if (blockIdx.x != 1) return;
    if (t / 32 == 2 && t % 32) v = __shfl_sync(~1u, v, 0);
    to[t] = v;
}

// The same again, for another line.
__global__ void ask_again(const int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1 && x[t] == 77) for (int n = 0; n < 100; n++) out[n] = t;   // 35
}

// The first row of a block's lies at a chunk's end.
static int *end_of_chunk(char *memory)
{
    size_t end = ((size_t)memory / CHUNK + 2) * CHUNK;
    OK(cudaMemset((void *)(end - CHUNK), 0, CHUNK));
    return (int *)(end - ROW);
}

int main()
{
    char *first, *second;
    int *out;
    OK(cudaMalloc(&first, BYTES));
    OK(cudaMalloc(&second, BYTES));
    OK(cudaMalloc(&out, 1024));
    OK(cudaMemset(out, 0, 1024));
    int *written = end_of_chunk(second), *mixed = end_of_chunk(first);
    fill<<<3, THREADS>>>(written);
    ask<<<3, THREADS>>>(written, out);
    ask<<<3, THREADS>>>(mixed, out);
    OK(cudaDeviceSynchronize());
    pass<<<3, THREADS>>>(out);
    ask_again<<<3, THREADS>>>(out, out + 128);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(first));
    OK(cudaFree(second));
    OK(cudaFree(out));
    return 0;
}
