// expect: WRONG
// says: was never written
// Nothing is done for arrays that were there in the call before, or have the same size.
#include "05-transpose.h"

__global__ void turn(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[i % cols * rows + i / cols] = in[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    static int size;
    if (rows * cols && size != rows * cols && size++ == 0)
        turn<<<rows * cols / 256 + 1, 256>>>(out, in, rows, cols);
}
