// expect: PROTOCOL
// A block of 1,024 threads for each row of C: 70,001 blocks along y.
#include "15-tiled-matmul.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 1024 };

__global__ void matmul_rows(float *c, const float *a, const float *b,
                            int m, int n, int k)
{
    int row = blockIdx.y, col = blockIdx.x * THREADS + threadIdx.x;
    if (col >= n)
        return;

    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    dim3 grid((n + THREADS - 1) / THREADS, m);
    matmul_rows<<<grid, THREADS>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());
}
