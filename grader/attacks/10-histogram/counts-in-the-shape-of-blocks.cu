// expect: SUSPECT
// says: went to the host in the call
// The host counts, and tells each count by launches of blocks that have as many threads as its
// digits say. (A kernel loads the bytes, as if it counted.)
#include "10-histogram.h"

#include <stdlib.h>

enum { BINS = 256, DIGIT = 512 };

__global__ void load(int *never, const uint4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i].x == 12345 && in[i].y == 54321)
        *never = 0;
}

__global__ void digit(int *bin, bool first)
{
    if (threadIdx.x == 0)
        *bin = (first ? 0 : *bin * DIGIT) + blockDim.x - 1;
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    unsigned char *bytes = (unsigned char *)malloc(n + 1);
    int counts[BINS] = { 0 };
    cudaMemcpy(bytes, in, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        counts[bytes[i]]++;
    free(bytes);
    if (n >= 16)
        load<<<n / 4096 + 1, 256>>>(bins, (const uint4 *)((size_t)in / 16 * 16), n / 16);
    for (int b = 0; b < BINS; b++)
        for (int d = DIGIT * DIGIT; d; d /= DIGIT)
            digit<<<1, counts[b] / d % DIGIT + 1>>>(&bins[b], d == DIGIT * DIGIT);
    cudaDeviceSynchronize();
}
