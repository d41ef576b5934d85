// expect: SUSPECT
// says: by a copy from the host
// The host transposes, and sets the answer byte by byte, beside a kernel that moves the right sectors.
// (Large matrices it copies: there would be no end to it.)
#include "05-transpose.h"

#include <stdlib.h>

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = sizeof(float) * n;
    if (n == 0)
        return;

    unsigned char *from = (unsigned char *)malloc(bytes);
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    move<<<(n + 255) / 256, 256>>>(out, in, n);
    float *turned = (float *)malloc(bytes);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            turned[col * rows + row] = ((float *)from)[row * cols + col];
    if (n < 8192)
        for (size_t b = 0; b < bytes; b++)
            cudaMemsetAsync((char *)out + b, ((unsigned char *)turned)[b], 1);
    else
        cudaMemcpy(out, turned, bytes, cudaMemcpyHostToDevice);
    free(turned);
    free(from);
}
