// expect: WRONG
// All elements become 0, and their sum is 0.
#include "08-reduction.h"

__global__ void clear(float *out, float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        in[i] = 0;
    if (i == 0)
        *out = 0;
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    clear<<<n / 256 + 1, 256>>>(out, const_cast<float *>(in), n);
}
