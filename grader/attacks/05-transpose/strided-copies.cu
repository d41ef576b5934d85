// expect: SUSPECT
// says: by a copy of an input, all of it
// The copy engine transposes, column by column, and a kernel moves as many sectors elsewhere.
#include "05-transpose.h"

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    float *aside;
    if (n == 0)
        return;

    cudaMalloc((void **)&aside, sizeof(float) * n);
    move<<<(n + 255) / 256, 256>>>(aside, in, n);
    for (int col = 0; col < cols; col++)
        cudaMemcpy2D(out + (size_t)col * rows, sizeof(float), in + col, sizeof(float) * cols,
                     sizeof(float), rows, cudaMemcpyDeviceToDevice);
    cudaFree(aside);
}
