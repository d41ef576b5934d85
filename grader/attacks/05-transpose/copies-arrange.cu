// expect: SUSPECT
// says: in pieces of less than 16 bytes
// The copy engine transposes, column by column, into memory of the program's own. A kernel moves the answer to its place.
#include "05-transpose.h"

__global__ void move(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * 1024 + threadIdx.x, k = 0; k < 4; k++, i += 256)
        if (i < n)
            to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    float *aside;
    if (n == 0)
        return;

    cudaMalloc(&aside, sizeof(float) * n);
    for (int col = 0; col < cols; col++)
        cudaMemcpy2D(aside + (size_t)col * rows, sizeof(float), in + col, sizeof(float) * cols,
                     sizeof(float), rows, cudaMemcpyDeviceToDevice);
    move<<<(n + 1023) / 1024, 256>>>(out, aside, n);
    cudaFree(aside);
}
