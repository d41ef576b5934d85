// Products on Tensor Cores by nvcuda::wmma: fragments from global memory, from shared memory, and four products of what is
// loaded once.
#include <cuda_fp16.h>
#include <mma.h>
#include "exercise.h"

using namespace nvcuda::wmma;
enum { THREADS = 128, K = 128, N = 512, MOST = 1 << 25 };
typedef fragment<matrix_a, 16, 16, 16, __half, row_major> A;
typedef fragment<matrix_b, 16, 16, 16, __half, row_major> B;
typedef fragment<accumulator, 16, 16, 16, float> C;

static __device__ __forceinline__ float *tile_of(float *c) { return c + (blockIdx.x * (THREADS / 32) + threadIdx.x / 32) % (MOST / 1024) * 1024; }

static __device__ __forceinline__ void from_global(float *c, const __half *a, const __half *b)
{
    int warp = threadIdx.x / 32, row = blockIdx.x % 16 * 32 + warp / 2 * 16, column = blockIdx.x / 16 % 16 * 32 + warp % 2 * 16;
    A left;
    B right;
    C sum;
    fill_fragment(sum, 0);
    for (int k = 0; k < K; k += 16) {
        load_matrix_sync(left, a + row * K + k, K);
        load_matrix_sync(right, b + k * N + column, N);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(tile_of(c), sum, 32, mem_row_major);
}

// EACH x EACH products a warp, of a tile of 32 EACH x 32 EACH.
template <int EACH> static __device__ __forceinline__ void from_shared(float *c, const __half *a, const __half *b)
{
    enum { TILE = 32 * EACH, DEPTH = 32, PAD = 8 };
    __shared__ __align__(16) __half s[TILE][DEPTH + PAD], t[DEPTH][TILE + PAD];
    int warp = threadIdx.x / 32, row = blockIdx.x % 4 * TILE, column = blockIdx.x / 4 % 4 * TILE;
    C sum[EACH][EACH];
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            fill_fragment(sum[i][j], 0);
    for (int from = 0; from < K; from += DEPTH) {
        for (int n = threadIdx.x; n < TILE * DEPTH / 8; n += THREADS) {
            int y = n / (DEPTH / 8), x = n % (DEPTH / 8) * 8, u = n / (TILE / 8), v = n % (TILE / 8) * 8;
            *(uint4 *)&s[y][x] = *(const uint4 *)&a[(row + y) * K + from + x];
            *(uint4 *)&t[u][v] = *(const uint4 *)&b[(from + u) * N + column + v];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            A left[EACH];
            B right[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                load_matrix_sync(left[e], &s[(warp / 2 * EACH + e) * 16][k], DEPTH + PAD);
                load_matrix_sync(right[e], &t[k][(warp % 2 * EACH + e) * 16], TILE + PAD);
            }
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            store_matrix_sync(tile_of(c) + i * 512 + j * 16, sum[i][j], 32, mem_row_major);
}

#define HALVES (float *c, const __half *a, const __half *b)
IN_GRIDS(wmma_global, THREADS, HALVES, from_global(c, a, b))
IN_GRIDS(wmma_shared, THREADS, HALVES, from_shared<1>(c, a, b))
IN_GRIDS(wmma_four, THREADS, HALVES, from_shared<2>(c, a, b))

static __half *a, *b;
static float *c;

static __half *halves(size_t n)
{
    return input<__half>(n, [](size_t) { return __float2half(random_word() * 0x1p-32f); });
}

int main(int count, char **arguments)
{
    a = halves(N * K);
    b = halves(K * N);
    c = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("wmma", wmma_global, THREADS, 0, c, a, b),
        GRIDS_OF("wmma", wmma_shared, THREADS, 0, c, a, b),
        GRIDS_OF("", wmma_four, THREADS, 0, c, a, b),
    });
}
