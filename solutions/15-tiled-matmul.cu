// Lesson 15: multiply matrices, and use each float that was loaded more than once.
//
// A product of two n x n matrices needs each input n times. A block that keeps tiles of both inputs in
// shared memory loads each input n / 32 times. A thread that makes several elements of C in registers
// also reads shared memory less often.
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

//> naive
// Version 1: each thread makes one element of C from a row of A and a
// column of B, straight from global memory.
__global__ void matmul_naive(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0;
    //> sum TODO: add k products to `sum` (2 lines)
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    //< sum
    c[row * n + col] = sum;
}
//< naive

//> steps TODO:
//> tile-size
enum { TILE = 32 };  // a block has TILE x TILE threads; each row of threads is one warp
//< tile-size

//> tiled
// Version 2: the block makes a tile of C. It goes through the k products
// 32 at a time: it loads a tile of A and a tile of B into shared memory,
// waits until both are there, and each thread takes its row and column.
__global__ void matmul_tiled(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    //> tiles
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    //< tiles
    int y = threadIdx.y, row = blockIdx.y * TILE + y;
    int x = threadIdx.x, col = blockIdx.x * TILE + x;

    //> turns
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
    //< turns
        //> load
        int a_col = first + x, b_row = first + y;
        //> load-a
        a_tile[y][x] = row < m && a_col < k ? a[row * k + a_col] : 0;
        //< load-a
        //> load-b
        b_tile[y][x] = b_row < k && col < n ? b[b_row * n + col] : 0;
        //< load-b
        //> loaded
        __syncthreads();
        //< loaded
        //< load

        //> use
        for (int p = 0; p < TILE; p++)
            //> multiply
            sum += a_tile[y][p] * b_tile[p][x];
            //< multiply
        //> used
        __syncthreads();  // the next turn overwrites both tiles
        //< used
        //< use
    }
    //> store
    if (row < m && col < n)
        c[row * n + col] = sum;
    //< store
}
//< tiled

//> four-by-four
// Version 3: a block of 256 threads makes 64 x 64 elements, each thread
// 4 x 4 of them, 16 rows and 16 columns apart. The 8 floats that it
// reads from shared memory serve 16 products.
__global__ void matmul_4x4(float *c, const float *a, const float *b,
                           int m, int n, int k)
{
    __shared__ float a_tile[64][16], b_tile[16][64];
    int t = threadIdx.x, y = t / 16, x = t % 16;
    int top = blockIdx.y * 64, left = blockIdx.x * 64;

    float sum[4][4] = {};
    for (int first = 0; first < k; first += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            int row = top + i / 16, col = first + i % 16;
            a_tile[i / 16][i % 16] =
                row < m && col < k ? a[row * k + col] : 0;
            row = first + i / 64, col = left + i % 64;
            b_tile[i / 64][i % 64] =
                row < k && col < n ? b[row * n + col] : 0;
        }
        __syncthreads();

        for (int p = 0; p < 16; p++) {
            float u[4], v[4];
            for (int i = 0; i < 4; i++) {
                u[i] = a_tile[y + 16 * i][p];
                //> four-columns
                v[i] = b_tile[p][x + 16 * i];
                //< four-columns
            }
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            //> column-of-sum
            int row = top + y + 16 * i, col = left + x + 16 * j;
            //< column-of-sum
            if (row < m && col < n)
                c[row * n + col] = sum[i][j];
        }
}
//< four-by-four

//> load-four
// Elements (row, col) to (row, col + 3) of a matrix, and 0 for those
// outside. One load of 16 bytes if all four are in the row, and rows begin
// at multiples of 16 bytes, which they do if cols % 4 == 0.
__device__ float4 load_four(const float *in, int rows, int cols,
                            int row, int col)
{
    const float *at = in + (size_t)row * cols + col;
    if (row < rows && col + 3 < cols && cols % 4 == 0)
        return *(const float4 *)at;

    float4 v = make_float4(0, 0, 0, 0);
    if (row < rows) {
        if (col + 0 < cols) v.x = at[0];
        if (col + 1 < cols) v.y = at[1];
        if (col + 2 < cols) v.z = at[2];
        if (col + 3 < cols) v.w = at[3];
    }
    return v;
}

// The same for a store. Nothing is stored outside of the matrix.
__device__ void store_four(float *out, int rows, int cols,
                           int row, int col, const float v[4])
{
    float *at = out + (size_t)row * cols + col;
    if (row < rows && col + 3 < cols && cols % 4 == 0)
        *(float4 *)at = make_float4(v[0], v[1], v[2], v[3]);
    else if (row < rows)
        for (int j = 0; j < 4 && col + j < cols; j++)
            at[j] = v[j];
}
//< load-four

//> eight-by-eight
// Version 4: 256 threads make 128 x 128 elements, 8 x 8 each. They load
// four floats at a time, a turn ahead. The tile of A is transposed, so the
// floats that a thread reads from it are neighbours.
__global__ void __launch_bounds__(256, 2)
matmul_8x8(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ __align__(16) float a_tile[8][128 + 4];  // a_tile[p][row]
    __shared__ __align__(16) float b_tile[8][128];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;

    // The block is 4 warps high and 2 wide, a warp 4 threads high and 8
    // wide: each half of it 2 x 8. A thread has rows y to y + 3 and those
    // 64 further down, columns x to x + 3 and those 64 further right.
    int y = 4 * (warp / 2 * 4 + lane / 16 * 2 + lane % 2);
    int x = 4 * (warp % 2 * 8 + lane % 16 / 2);
    int a_row = t / 2, a_col = t % 2 * 4;  // what it loads of the tiles
    int b_row = t / 32, b_col = t % 32 * 4;

    float4 a_four = load_four(a, m, k, top + a_row, a_col);
    float4 b_four = load_four(b, k, n, b_row, left + b_col);
    float sum[8][8] = {};
    for (int first = 0; first < k; first += 8) {
        a_tile[a_col + 0][a_row] = a_four.x;
        a_tile[a_col + 1][a_row] = a_four.y;
        a_tile[a_col + 2][a_row] = a_four.z;
        a_tile[a_col + 3][a_row] = a_four.w;
        *(float4 *)&b_tile[b_row][b_col] = b_four;
        __syncthreads();

        // The next turn's are on their way while this one's are used.
        int next = first + 8;
        a_four = load_four(a, m, k, top + a_row, next + a_col);
        b_four = load_four(b, k, n, next + b_row, left + b_col);
#pragma unroll
        for (int p = 0; p < 8; p++) {
            float u[8], v[8];
            *(float4 *)&u[0] = *(float4 *)&a_tile[p][y];
            *(float4 *)&u[4] = *(float4 *)&a_tile[p][y + 64];
            *(float4 *)&v[0] = *(float4 *)&b_tile[p][x];
            *(float4 *)&v[4] = *(float4 *)&b_tile[p][x + 64];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }

    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j += 4)
            store_four(c, m, n, top + y + i % 4 + i / 4 * 64,
                       left + x + j / 4 * 64, &sum[i][j]);
}
//< eight-by-eight
//< steps

//> version TODO:
#ifndef VERSION
#define VERSION 4  // the kernel that `matmul` launches
#endif
//< version

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    //> empty
    if (m == 0 || n == 0)
        return;
    //< empty

    //> launch
    //> choice TODO:
    //| int side = 16;  // a block makes side x side elements of C
    //| auto kernel = matmul_naive;
    //| dim3 block(side, side);
    int side = VERSION == 1 ? 16 : VERSION == 2 ? TILE : VERSION == 3 ? 64 : 128;
    auto kernel = VERSION == 1   ? matmul_naive
                  : VERSION == 2 ? matmul_tiled
                  : VERSION == 3 ? matmul_4x4
                                 : matmul_8x8;
    dim3 block = VERSION <= 2 ? dim3(side, side) : dim3(256);
    //< choice
    dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    //> run
    kernel<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());  // the caller synchronises
    //< run
    //< launch
}
