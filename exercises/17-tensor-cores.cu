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

// ---- Version 1: fragments

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

// Four warps make 32 x 32 sums each: four fragments of 16 x 16.
template <typename T>
__global__ void product_wmma(float *c, const T *a, const T *b, int m,
                             int n, int k)
{
    __shared__ __align__(32) T as[TILE][DEPTH], bs[DEPTH][TILE];
    __shared__ __align__(32) float cs[TILE][TILE];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    for (int p = 0; p < k; p += DEPTH) {
        stage(as, a, row, p, m, k);
        stage(bs, b, p, col, k, n);
        __syncthreads();
        // TODO: multiply the two tiles, 16 columns of `as` at a time (15 lines)
        (void)top, (void)left;  // where this warp's sums begin
        __syncthreads();
    }

    // TODO: bring the sums to C, by way of `cs`: only what lies inside of C (11 lines)
    (void)cs;
}

template <typename T>
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;  // a grid of no blocks is an error
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    product_wmma<T><<<grid, 128>>>(c, a, b, m, n, k);
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
