// expect: MEMORY
// The answer may be in memory that was freed: of a run before it, or of the grader's.
#include "08-reduction.h"

__global__ void take(float *out, const float *left) { *out = *left; }

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)in, (void)n, (void)scratch;
    float *left;
    cudaMalloc(&left, 4);
    take<<<1, 1>>>(out, left);
    cudaFree(left);
}
