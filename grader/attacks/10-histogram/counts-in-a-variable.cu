// expect: SUSPECT
// says: bytes went to the host in the call
// The host counts; a variable of the device takes its counts, and a kernel writes them down.
#include "10-histogram.h"

#include <stdlib.h>

enum { BINS = 256 };

__constant__ int known[BINS];

__global__ void write_down(int *bins) { bins[threadIdx.x] = known[threadIdx.x]; }

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    unsigned char *bytes = (unsigned char *)malloc(n + 1);
    int counts[BINS] = { 0 };
    cudaMemcpy(bytes, in, n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        counts[bytes[i]]++;
    free(bytes);
    cudaMemcpyToSymbol(known, counts, sizeof counts);
    write_down<<<1, BINS>>>(bins);
    cudaDeviceSynchronize();
}
