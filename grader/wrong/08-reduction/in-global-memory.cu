// expect: STEP 0
// at: sums[me] += in[i];
// says: one sum for each block would do
#include "08-reduction.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 256, SHARE = 1024 };  // elements a thread

// Each thread adds up a stretch of elements, in its place of `sums` and not in a register.
__global__ void own_sums(float *sums, const float *in, int n)
{
    int me = blockIdx.x * THREADS + threadIdx.x;
    int all = gridDim.x * THREADS, each = (n + all - 1) / all;

    sums[me] = 0;
    for (int i = me * each; i < (me + 1) * each && i < n; i++)
        sums[me] += in[i];
}

// sums[i] += sums[i + half], where there are both.
__global__ void add_halves(float *sums, int n, int half)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i + half < n)
        sums[i] += sums[i + half];
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    int blocks = n / (THREADS * SHARE) + 1;
    own_sums<<<blocks, THREADS>>>(scratch, in, n);
    CHECK(cudaGetLastError());

    for (int left = blocks * THREADS; left > 1; left = (left + 1) / 2) {
        add_halves<<<left / 2 / THREADS + 1, THREADS>>>(scratch, left, (left + 1) / 2);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpyAsync(out, scratch, sizeof *out, cudaMemcpyDeviceToDevice));
}
