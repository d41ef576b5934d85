// expect: SUSPECT
// says: went to the host in the call
// The host transposes. It has all numbers of 16 bits on the device, each 32 times, and says by copies of 64 bytes within the
// device which of them are the answer's halves. (Many rows or columns are transposed as they should be.)
#include "05-transpose.h"

#include <stdlib.h>

enum { NUMBERS = 1 << 16, TIMES = 32 };
typedef unsigned short Number[TIMES];

__global__ void count(Number *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < TIMES; k++)
        table[i][k] = i;
}

__global__ void take(unsigned *out, Number *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = half[2 * i][0] | half[2 * i + 1][0] << 16;
}

__global__ void turn(float *out, const float *in, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols)
        out[i] = in[i % rows * (size_t)cols + i / rows];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols, blocks = (n + 255) / 256;
    Number *table, *chosen;
    if (n == 0)
        return;
    if (n > 6144) {
        turn<<<blocks, 256>>>(out, in, rows, cols);
        return;
    }

    unsigned *from = (unsigned *)malloc(4 * n);
    cudaMalloc(&table, NUMBERS * sizeof *table);
    cudaMalloc(&chosen, 2 * n * sizeof *chosen);
    count<<<NUMBERS / 256, 256>>>(table);
    cudaMemcpy(from, in, 4 * n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2 * n; i++)
        cudaMemcpyAsync(chosen[i], table[from[i / 2 % rows * cols + i / 2 / rows] >> i % 2 * 16 & 0xffff],
                        sizeof *chosen, cudaMemcpyDeviceToDevice);
    take<<<blocks, 256>>>((unsigned *)out, chosen, n);
    cudaFree(table);
    cudaFree(chosen);
    free(from);
}
