// Products of matrices of 512 x 512 floats.
#include "exercise.h"

enum { N = 512, TILE = 32, BIG = 64, DEEP = 16 };

KERNEL matmul_naive(float *c, const float *a, const float *b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[y * N + k] * b[k * N + x];
    c[y * N + x] = sum;
}

// Neighbouring lanes go down a column: a sector for each.
KERNEL matmul_columns(float *c, const float *a, const float *b)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[y * N + k] * b[k * N + x];
    c[y * N + x] = sum;
}

KERNEL matmul_tiled(float *c, const float *a, const float *b)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int from = 0; from < N; from += TILE) {
        left[ty][tx] = a[y * N + from + tx];
        right[ty][tx] = b[(from + ty) * N + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    c[y * N + x] = sum;
}

// 256 threads make a tile of 64 x 64, each 4 x 4 of it in registers.
KERNEL matmul_registers(float *c, const float *a, const float *b)
{
    __shared__ float left[DEEP][BIG + 4], right[DEEP][BIG];
    int t = threadIdx.x, tx = t % 16 * 4, ty = t / 16 * 4;
    const float *from_a = a + blockIdx.y * BIG * N, *from_b = b + blockIdx.x * BIG;
    float sum[4][4] = { 0 };
    for (int from = 0; from < N; from += DEEP) {
        for (int i = t; i < BIG * DEEP; i += 256) {
            left[i % DEEP][i / DEEP] = from_a[i / DEEP * N + from + i % DEEP];
            right[i / BIG][i % BIG] = from_b[(from + i / BIG) * N + i % BIG];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEEP; k++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    sum[y][x] += left[k][ty + y] * right[k][tx + x];
        __syncthreads();
    }
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            c[(blockIdx.y * BIG + ty + y) * N + blockIdx.x * BIG + tx + x] = sum[y][x];
}

static float *a, *b, *c;

int main(int count, char **arguments)
{
    a = numbers(N * N);
    b = numbers(N * N);
    c = output<float>(N * N);
    return run_versions(count, arguments, {
        VERSION_OF("product", matmul_naive, dim3(N / 32, N / 8), dim3(32, 8), 0, c, a, b),
        VERSION_OF("product", matmul_columns, dim3(N / 32, N / 8), dim3(32, 8), 0, c, a, b),
        VERSION_OF("product", matmul_tiled, dim3(N / TILE, N / TILE), dim3(TILE, TILE), 0, c, a, b),
        VERSION_OF("product", matmul_registers, dim3(N / BIG, N / BIG), 256, 0, c, a, b),
    });
}
