// Lesson 17: products of matrices of 16-bit numbers on Tensor Cores.
//
// One instruction of one warp multiplies two small matrices that are spread over
// its lanes. All the rest of a product is bringing the numbers there in time.
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

// Version 1: each thread makes one element of C from a row of A and a
// column of B. It multiplies floats, and uses no Tensor Core.
template <typename T>
__global__ void product_naive(float *c, const T *a, const T *b, int m,
                              int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    const T *a_row = a + (size_t)row * pitch(k);  // A's rows have gaps
    float sum = 0;
    // TODO: add k products to `sum` (2 lines)
    (void)a_row, (void)b;
    c[(size_t)row * n + col] = sum;  // C's rows have none
}

enum { TILE = 64, DEPTH = 32 };  // a block of 4 warps makes TILE x TILE sums

// Copies the part of a matrix that begins at (row, col) into the first COLS
// columns of a tile, 8 numbers (16 bytes) at a time. Places outside of the
// matrix become 0. Rows of the tile may be WIDE > COLS numbers apart.
template <int COLS, typename T, int ROWS, int WIDE>
__device__ void stage(T (&tile)[ROWS][WIDE], const T *from, int row,
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
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;  // a grid of no blocks is an error
    int side = 16;  // a block makes side x side elements of C
    auto kernel = product_naive<T>;
    dim3 block(side, side);
    dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    kernel<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());  // the caller synchronises
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
