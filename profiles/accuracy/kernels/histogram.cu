// Counting 2 M values in 256 bins.
#include "exercise.h"

enum { N = 1 << 21, BINS = 256, THREADS = 256, BLOCKS = 132 * 4 };

KERNEL histogram_global(unsigned *bins, const unsigned *in)
{
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += THREADS * BLOCKS)
        atomicAdd(&bins[in[i]], 1);
}

static __device__ void count_in_shared(unsigned *bins, const unsigned *in)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += THREADS * BLOCKS)
        atomicAdd(&own[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

KERNEL histogram_shared(unsigned *bins, const unsigned *in) { count_in_shared(bins, in); }
KERNEL histogram_skewed(unsigned *bins, const unsigned *in) { count_in_shared(bins, in); }     // in four bins

static unsigned *in, *skewed, *bins;

int main(int count, char **arguments)
{
    in = words(N, BINS);
    skewed = words(N, 4);
    bins = output<unsigned>(BINS);
    return run_versions(count, arguments, {
        VERSION_OF("histogram", histogram_global, BLOCKS, THREADS, 0, bins, in),
        VERSION_OF("histogram", histogram_shared, BLOCKS, THREADS, 0, bins, in),
        VERSION(histogram_skewed, BLOCKS, THREADS, 0, bins, skewed),
    });
}
