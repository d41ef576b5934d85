// expect: PROTOCOL
// says: this launch failed and the kernel never ran
// Launches a grid of no blocks where there is nothing to multiply.
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
        for (int q = 0; q < DEPTH; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, T,
                           wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, T,
                           wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &as[top + 16 * i][q], DEPTH);
                wmma::load_matrix_sync(fb[i], &bs[q][left + 16 * i], TILE);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&cs[top + 16 * i][left + 16 * j],
                                    sum[i][j], TILE,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int r = row + i / TILE, x = col + i % TILE;
        if (r < m && x < n)
            c[(size_t)r * n + x] = cs[i / TILE][i % TILE];
    }
}

template <typename T>
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
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
