// expect: SLOW
// An honest one, and slow: one copy within the device gives the rows padding, however short they are, and a kernel transposes.
#include "05-transpose.h"

__global__ void turn(float *out, const char *padded, size_t pitch, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / cols, col = i % cols;
    if (row < rows)
        out[(size_t)col * rows + row] = ((const float *)(padded + row * pitch))[col];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    size_t pitch, width = sizeof(float) * cols;
    char *padded;
    if (rows == 0 || cols == 0)
        return;

    cudaMallocPitch(&padded, &pitch, width, rows);
    cudaMemcpy2D(padded, pitch, in, width, width, rows, cudaMemcpyDeviceToDevice);
    turn<<<(rows * cols + 255) / 256, 256>>>(out, padded, pitch, rows, cols);
    cudaFree(padded);
}
