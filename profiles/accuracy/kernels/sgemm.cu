// Products of matrices of floats, five ways. Each block computes a tile of its own of a product with a short k; the
// factors, of which all blocks read the same, stay in the L2 cache.
#include "exercise.h"

enum { K = 128, N = 1024, THREADS = 256, MOST = 1 << 25 };

// One element a thread, from global memory.
static __device__ __forceinline__ void naive(float *c, const float *a, const float *b)
{
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x % 64 * 16 + y, column = blockIdx.x / 64 % 64 * 16 + x;
    float sum = 0;
    for (int k = 0; k < K; k++)
        sum += a[row * K + k] * b[k * N + column];
    c[blockIdx.x * 256 + threadIdx.x] = sum;
}

static __device__ __forceinline__ void tiles_of_16(float *c, const float *a, const float *b)
{
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x % 64 * 16 + y, column = blockIdx.x / 64 % 64 * 16 + x;
    float sum = 0;
    for (int from = 0; from < K; from += 16) {
        s[y][x] = a[row * K + from + x];
        t[y][x] = b[(from + y) * N + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += s[y][k] * t[k][x];
        __syncthreads();
    }
    c[blockIdx.x * 256 + threadIdx.x] = sum;
}

// EACH x EACH elements a thread, of a tile of 16 EACH x 16 EACH.
template <int EACH> static __device__ __forceinline__ void registers(float *c, const float *a, const float *b)
{
    enum { TILE = 16 * EACH, DEPTH = 8 };
    __shared__ float s[DEPTH][TILE], t[DEPTH][TILE];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x * TILE % N, column = blockIdx.x / 8 * TILE % N;
    float sum[EACH][EACH] = {};
    for (int from = 0; from < K; from += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            s[i % DEPTH][i / DEPTH] = a[(row + i / DEPTH) * K + from + i % DEPTH];
            t[i / TILE][i % TILE] = b[(from + i / TILE) * N + column + i % TILE];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float left[EACH], right[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++)
                left[e] = s[k][y * EACH + e], right[e] = t[k][x * EACH + e];
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(blockIdx.x * THREADS * EACH + y * EACH * 16 + i * 16) % (MOST / EACH) * EACH + x * EACH + j] = sum[i][j];
}

// 8 x 8 elements a thread, which loads four words at a time, and the next tile while it computes.
static __device__ __forceinline__ void vectors(float *c, const float *a, const float *b)
{
    enum { EACH = 8, TILE = 128, DEPTH = 8 };
    __shared__ float4 s[2][DEPTH][TILE / 4], t[2][DEPTH][TILE / 4];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x * TILE % N, column = blockIdx.x / 8 * TILE % N;
    int line = threadIdx.x / 2, part = threadIdx.x % 2 * 4, deep = threadIdx.x / 32, wide = threadIdx.x % 32;
    const float4 *from_a = (const float4 *)(a + (row + line) * K + part), *from_b = (const float4 *)(b + deep * N + column) + wide;
    float sum[EACH][EACH] = {};
    float4 left = *from_a, right = *from_b;
    for (int from = 0; from < K; from += DEPTH) {
        int now = from / DEPTH % 2;
        float *to = (float *)&s[now][part][0] + line;
        to[0] = left.x, to[TILE] = left.y, to[2 * TILE] = left.z, to[3 * TILE] = left.w;
        t[now][deep][wide] = right;
        __syncthreads();
        if (from + DEPTH < K)
            left = from_a[(from + DEPTH) / 4], right = from_b[(from + DEPTH) * (N / 4)];
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float4 l[2] = { s[now][k][y * 2], s[now][k][y * 2 + 1] }, r[2] = { t[now][k][x], t[now][k][x + 16] };
            const float *u = &l[0].x, *v = &r[0].x;
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += u[i] * v[j];
        }
    }
    float4 *out = (float4 *)c + blockIdx.x * (TILE * TILE / 4) % (MOST / 4);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < 2; j++)
            out[(y * EACH + i) * (TILE / 4) + j * 16 + x] = make_float4(sum[i][4 * j], sum[i][4 * j + 1], sum[i][4 * j + 2], sum[i][4 * j + 3]);
}

#define MATRICES (float *c, const float *a, const float *b)
IN_GRIDS(sgemm_naive, THREADS, MATRICES, naive(c, a, b))
IN_GRIDS(sgemm_tiles, THREADS, MATRICES, tiles_of_16(c, a, b))
IN_GRIDS(sgemm_4_each, THREADS, MATRICES, registers<4>(c, a, b))
IN_GRIDS(sgemm_8_each, THREADS, MATRICES, registers<8>(c, a, b))
IN_GRIDS(sgemm_vectors, THREADS, MATRICES, vectors(c, a, b))

static float *a, *b, *c;

int main(int count, char **arguments)
{
    a = numbers(N * K);
    b = numbers(K * N);
    c = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", sgemm_naive, THREADS, 0, c, a, b),
        GRIDS_OF("", sgemm_tiles, THREADS, 0, c, a, b),
        GRIDS_OF("", sgemm_4_each, THREADS, 0, c, a, b),
        GRIDS_OF("sgemm", sgemm_8_each, THREADS, 0, c, a, b),
        GRIDS_OF("sgemm", sgemm_vectors, THREADS, 0, c, a, b),
    });
}
