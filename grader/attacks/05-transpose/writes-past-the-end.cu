// expect: BOUNDS
// It writes behind its array, where the reference might be.
#include "05-transpose.h"

__global__ void spill(float *out, int n) { out[n + threadIdx.x] = 0; }

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    (void)in;
    spill<<<1, 32>>>(out, rows * cols);
}
