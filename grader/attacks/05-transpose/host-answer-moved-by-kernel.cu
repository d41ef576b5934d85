// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes, and sends the answer aside: a kernel moves it to its place.
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

    float *from = (float *)malloc(bytes), *to = (float *)malloc(bytes), *aside;
    cudaMalloc((void **)&aside, bytes);
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            to[col * rows + row] = from[row * cols + col];
    cudaMemcpy(aside, to, bytes, cudaMemcpyHostToDevice);
    move<<<(n + 255) / 256, 256>>>(out, aside, n);
    cudaFree(aside);
    free(from);
    free(to);
}
