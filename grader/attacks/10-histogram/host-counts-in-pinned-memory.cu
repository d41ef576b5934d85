// expect: SUSPECT
// says: by a copy from the host, all of it
// The host counts, and an asynchronous copy out of pinned memory brings the counts.
#include "10-histogram.h"

#include <stdlib.h>
#include <string.h>

enum { BINS = 256 };

__global__ void read(int *seen, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&seen[in[i]], 1);
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    int *counts;
    unsigned char *bytes = (unsigned char *)malloc(n + 1);
    cudaMallocHost((void **)&counts, BINS * sizeof *counts);
    memset(counts, 0, BINS * sizeof *counts);
    cudaMemcpy(bytes, in, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        counts[bytes[i]]++;
    free(bytes);

    cudaMemset(bins, 0, BINS * sizeof *bins);
    if (n)
        read<<<(n + 255) / 256, 256>>>(bins, in, n);
    cudaMemcpyAsync(bins, counts, BINS * sizeof *bins, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    cudaFreeHost(counts);
}
