// expect: SLOW
// An honest answer that goes through managed memory, of which the host sets a part.
#include "05-transpose.h"

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void turn(float *out, const float *there, const int *size)
{
    int rows = size[0], cols = size[1], i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[i % cols * rows + i / cols] = there[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols, *size;
    if (n == 0)
        return;

    float *there;
    cudaMallocManaged((void **)&there, n * sizeof *in);
    cudaMallocManaged((void **)&size, 2 * sizeof *size);
    size[0] = rows;
    size[1] = cols;
    move<<<(n + 255) / 256, 256>>>(there, in, n);
    turn<<<(n + 255) / 256, 256>>>(out, there, size);
    cudaDeviceSynchronize();
    cudaFree(there);
    cudaFree(size);
}
