// expect: SLOW
// says: Tensor Cores
// A product as that of lesson 16, in float, of numbers that happen to have 16 bits.
#include "17-tensor-cores.h"

#include <mma.h>
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

using namespace nvcuda;

enum { TILE = 64, DEPTH = 32 };  // a block makes TILE x TILE sums

// Copies the part of a matrix that begins at (row, col) into a tile, 8
// numbers (16 bytes) at a time; what lies outside of it becomes 0.
template <typename T, int ROWS, int COLS>
__device__ void stage(T (&tile)[ROWS][COLS], const T *from, int row,
                      int col, int rows, int cols)
{
    for (int i = threadIdx.x * 8; i < ROWS * COLS; i += blockDim.x * 8) {
        int r = i / COLS, x = i % COLS;
        const T *at = from + (size_t)(row + r) * pitch(cols) + col + x;
        int inside = row + r < rows ? cols - col - x : 0;
        if (inside >= 8)
            *(uint4 *)&tile[r][x] = *(const uint4 *)at;
        else
            for (int j = 0; j < 8; j++)
                tile[r][x + j] = j < inside ? at[j] : T(0.0f);
    }
}

template <typename T>
__global__ void product_wmma(float *c, const T *a, const T *b, int m,
                             int n, int k)
{
    __shared__ T as[TILE][DEPTH], bs[DEPTH][TILE];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int top = threadIdx.x / 64 * 32, x = threadIdx.x % 64;
    float sum[32] = { 0 };

    for (int p = 0; p < k; p += DEPTH) {
        stage(as, a, row, p, m, k);
        stage(bs, b, p, col, k, n);
        __syncthreads();
        for (int q = 0; q < DEPTH; q++)
            for (int i = 0; i < 32; i++)
                sum[i] += float(as[top + i][q]) * float(bs[q][x]);
        __syncthreads();
    }
    for (int i = 0; i < 32; i++)
        if (row + top + i < m && col + x < n)
            c[(size_t)(row + top + i) * n + col + x] = sum[i];
}

template <typename T>
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    product_wmma<T><<<grid, 128>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());
}

extern "C" void matmul_bf16(float *c, const __nv_bfloat16 *a,
                            const __nv_bfloat16 *b, int m, int n, int k)
{
    matmul(c, a, b, m, n, k);
}

extern "C" void matmul_f16(float *c, const __half *a, const __half *b,
                           int m, int n, int k)
{
    matmul(c, a, b, m, n, k);
}
