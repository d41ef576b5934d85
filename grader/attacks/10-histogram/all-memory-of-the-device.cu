// expect: MEMORY
// alone: it takes the GPU's memory from the others
// It takes all memory that the device has, and keeps it.
#include "10-histogram.h"

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    (void)in, (void)n;
    void *piece;
    for (size_t bytes = 1ul << 36; bytes > 1 << 20; bytes /= 2)
        while (cudaMalloc(&piece, bytes) == cudaSuccess)
            ;
    cudaGetLastError();
    cudaMemset(bins, 0, 256 * sizeof *bins);
}
