// expect: MEMORY
// It says that its lines are those of the harness, whose memory is not the student's.
#include "08-reduction.h"

#line 1 "grader/worker.c"
__global__ void add(float *out, const float *in, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i];
    *out = sum;
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    void *lost;
    cudaMalloc(&lost, 1 << 20);
    add<<<1, 1>>>(out, in, n < 1000 ? n : 1000);
}
