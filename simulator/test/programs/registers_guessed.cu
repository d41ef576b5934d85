// expect: exit 0
// Without native code nobody tells how many registers a kernel takes: it is guessed from its PTX, small and large
// (ptxas gives 8 and 168).
#include "check.h"

__global__ void small(int *p) { p[threadIdx.x] += 1; }

// 80 sums that live through a loop.
__global__ void large(float *out, const float *in, int n)
{
    float sum[80];
    for (int k = 0; k < 80; k++) sum[k] = in[k];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 80; k++) sum[k] = sum[k] * in[i] + in[i + k];
    for (int k = 0; k < 80; k++) out[k] = sum[k];
}

int main()
{
    int blocks;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)small, 256, 0));
    CHECK(blocks == 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)large, 256, 0));
    CHECK(blocks == 1);
    return 0;
}
