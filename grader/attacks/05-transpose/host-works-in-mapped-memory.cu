// expect: SUSPECT
// says: bytes went to the host in the call
// Kernels carry the matrix to the host's pinned memory and back; the host transposes it there.
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
    if (n == 0)
        return;

    float *there, *back;
    cudaMallocHost((void **)&there, sizeof(float) * n);
    cudaMallocHost((void **)&back, sizeof(float) * n);
    move<<<(n + 255) / 256, 256>>>(there, in, n);
    cudaDeviceSynchronize();
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            back[col * rows + row] = there[row * cols + col];
    move<<<(n + 255) / 256, 256>>>(out, back, n);
    cudaDeviceSynchronize();
    cudaFreeHost(there);
    cudaFreeHost(back);
}
