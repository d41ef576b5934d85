// expect: WRONG
// Kernels carry the matrix to managed memory and back. A child of the program, whose page table nobody looks at, is to transpose it
// there. It finds no managed memory: that is mapped in the parent alone.
#include "05-transpose.h"

#include <sys/wait.h>
#include <unistd.h>

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
    cudaMallocManaged((void **)&there, n * sizeof *in);
    cudaMallocManaged((void **)&back, n * sizeof *in);
    move<<<(n + 255) / 256, 256>>>(there, in, n);
    cudaDeviceSynchronize();

    pid_t child = fork();
    if (child == 0) {
        for (int row = 0; row < rows; row++)
            for (int col = 0; col < cols; col++)
                back[col * rows + row] = there[row * cols + col];
        _exit(0);
    }
    waitpid(child, NULL, 0);

    move<<<(n + 255) / 256, 256>>>(out, back, n);
    cudaDeviceSynchronize();
    cudaFree(there);
    cudaFree(back);
}
