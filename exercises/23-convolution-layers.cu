// Lesson 23: the forward pass of convolution layers.
//
// A convolution is a product of matrices. One of them need not be in memory:
// a function says where each of its numbers is in the pictures.
#include "23-convolution-layers.h"

#include <limits.h>
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
typedef __nv_bfloat16 bf16;

// What a function is called with, and what follows from it.
struct Layer {
    int n, height, width, c, k, r, s, stride, pad, dilation;
    int p, q;    // the height and width of y
    int pixels;  // of all pictures of y: rows of the matrix of columns
    int depth;   // numbers of a filter: columns of the matrix
};

static Layer layer(int n, int height, int width, int c, int k, int r,
                   int s, int stride, int pad, int dilation)
{
    Layer l = {n, height, width, c, k, r, s, stride, pad, dilation};
    l.p = outputs(height, r, stride, pad, dilation);
    l.q = outputs(width, s, stride, pad, dilation);
    l.pixels = n * l.p * l.q;
    l.depth = r * s * c;
    return l;
}

// The pixels of x that one pixel of y is made from.
struct Window {
    const bf16 *picture;  // the first number of its picture
    int row, col;         // of its first pixel, which may be in the padding
};

// The window of pixel m of y. The pixels of all pictures are counted.
__device__ Window window(const bf16 *x, const Layer &l, int m)
{
    // TODO: the picture, and the window's first pixel (3 lines)
    (void)l, (void)m;
    return {x, 0, 0};
}

// Where in x the number is that number d of a filter is multiplied by. NULL:
// it is in the padding, and so it is 0.
__device__ const bf16 *address(const Window &from, const Layer &l, int d)
{
    // TODO: the number's pixel and channel (6 lines)
    (void)from, (void)l, (void)d;
    return NULL;
}

// Version 1: a thread makes one number of y. Eight neighbouring numbers of
// a filter meet eight neighbouring channels of a pixel.
__global__ void direct(bf16 *y, const bf16 *x, const bf16 *w, Layer l)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)l.pixels * l.k)
        return;

    Window from = window(x, l, i / l.k);
    const bf16 *filter = w + i % l.k * l.depth;
    float sum = 0;
    for (int d = 0; d < l.depth; d += 8) {
        const bf16 *at = address(from, l, d);
        for (int e = 0; at && e < 8; e++)
            sum += float(at[e]) * float(filter[d + e]);
    }
    y[i] = bf16(sum);
}

// ---- A product of matrices on Tensor Cores, that of lesson 17

enum { TILE = 64, DEPTH = 32 };  // a block makes TILE x TILE sums
enum { THREADS = 128 };          // each of 4 warps makes 32 x 32 of them

// A part of a matrix: rows of DEPTH numbers, and a gap.
typedef bf16 Tile[TILE][DEPTH + 8];

// A thread fills eight numbers, of every APARTth row.
enum { IN_A_ROW = DEPTH / 8, APART = THREADS / IN_A_ROW, PARTS = TILE / APART };

// Eight numbers of 16 bits, or zeros.
__device__ uint4 load_or_zero(const bf16 *at)
{
    return at ? *(const uint4 *)at : make_uint4(0, 0, 0, 0);
}

__device__ void store_parts(Tile &tile, const uint4 (&eight)[PARTS])
{
    int row = threadIdx.x / IN_A_ROW, col = threadIdx.x % IN_A_ROW * 8;
    for (int h = 0; h < PARTS; h++)
        *(uint4 *)&tile[row + h * APART][col] = eight[h];
}

// Copies the part of a matrix that begins at (row, d) into a tile. A row has
// l.depth numbers, a multiple of 8. What is outside of the matrix becomes 0.
__device__ void stage(Tile &tile, const bf16 *from, int row, int d,
                      int rows, const Layer &l)
{
    int first = row + threadIdx.x / IN_A_ROW;
    int e = d + threadIdx.x % IN_A_ROW * 8;
    uint4 eight[PARTS];
    for (int h = 0; h < PARTS; h++) {
        int m = first + h * APART;
        bool inside = m < rows && e < l.depth;
        eight[h] = load_or_zero(inside ? from + (size_t)m * l.depth + e
                                       : NULL);
    }
    store_parts(tile, eight);
}

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums[2][2];

// Adds the product of two tiles to the warp's 32 x 32 sums. Rows of b are
// filters, so to the fragments they are columns.
__device__ void multiply(Sums &sum, const Tile &a, const Tile &b)
{
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;
    for (int e = 0; e < DEPTH; e += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16,
                       wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16,
                       wmma::col_major> fb[2];
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(fa[i], &a[top + 16 * i][e], DEPTH + 8);
            wmma::load_matrix_sync(fb[i], &b[left + 16 * i][e], DEPTH + 8);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
}

// Two floats as numbers of 16 bits, the first in the lower half.
__device__ unsigned pack(float low, float high)
{
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return *(unsigned *)&two;
}

__device__ uint4 pack8(const float *from)
{
    return make_uint4(pack(from[0], from[1]), pack(from[2], from[3]),
                      pack(from[4], from[5]), pack(from[6], from[7]));
}

// Rounds the block's sums and stores them in y, by way of a tile of floats.
__device__ void leave(bf16 *y, Sums &sum, int row, int col, const Layer &l)
{
    __shared__ __align__(32) float tile[TILE][TILE + 8];
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&tile[top + 16 * i][left + 16 * j],
                                    sum[i][j], TILE + 8,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x * 8; i < TILE * TILE; i += blockDim.x * 8) {
        int m = row + i / TILE, f = col + i % TILE;
        if (m < l.pixels && f < l.k)
            *(uint4 *)(y + (size_t)m * l.k + f) =
                pack8(&tile[i / TILE][i % TILE]);
    }
}

// y = columns * w, where each filter is a column of w: number f of row m of
// y is the sum of columns[m][d] * w[f][d] over all d.
__global__ void product(bf16 *y, const bf16 *columns, const bf16 *w, Layer l)
{
    __shared__ __align__(32) Tile a, b;
    int row = blockIdx.x * TILE, col = blockIdx.y * TILE;
    Sums sum;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    for (int d = 0; d < l.depth; d += DEPTH) {
        stage(a, columns, row, d, l.pixels, l);
        stage(b, w, col, d, l.k, l);
        __syncthreads();
        multiply(sum, a, b);
        __syncthreads();
    }
    leave(y, sum, row, col, l);
}

// ---- A filter for each channel

// The eight numbers of 16 bits that `from` has.
__device__ void unpack8(float (&to)[8], uint4 from)
{
    const unsigned word[4] = {from.x, from.y, from.z, from.w};
    for (int e = 0; e < 4; e++) {
        to[2 * e] = __uint_as_float(word[e] << 16);
        to[2 * e + 1] = __uint_as_float(word[e] & 0xffff0000);
    }
}

// A thread makes eight channels of a pixel of y.
__global__ void depthwise_direct(bf16 *y, const bf16 *x, const bf16 *w,
                                 Layer l)
{
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= (size_t)l.pixels * l.c)
        return;

    Window from = window(x, l, i / l.c);
    int ch = i % l.c;
    float sum[8] = {}, pixel[8], filter[8];
    for (int d = ch; d < l.depth; d += l.c) {  // each pixel of the filter
        unpack8(pixel, load_or_zero(address(from, l, d)));
        unpack8(filter, load_or_zero(w + d));
        for (int e = 0; e < 8; e++)
            sum[e] += pixel[e] * filter[e];
    }
    *(uint4 *)(y + i) = pack8(sum);
}

// Blocks for so many items.
static unsigned blocks(size_t items, int a_block)
{
    return (unsigned)((items + a_block - 1) / a_block);
}

extern "C" void convolve(bf16 *y, const bf16 *x, const bf16 *w,
                         bf16 *workspace, int n, int height, int width,
                         int c, int k, int r, int s, int stride, int pad,
                         int dilation)
{
    Layer l = layer(n, height, width, c, k, r, s, stride, pad, dilation);
    if (n == 0)
        return;  // a grid of no blocks is an error
    (void)workspace;
    direct<<<blocks((size_t)l.pixels * k, 256), 256>>>(y, x, w, l);
    CHECK(cudaGetLastError());  // the caller synchronises
}

extern "C" void convolve_depthwise(bf16 *y, const bf16 *x, const bf16 *w,
                                   int n, int height, int width, int c,
                                   int r, int s, int stride, int pad,
                                   int dilation)
{
    Layer l = layer(n, height, width, c, c, r, s, stride, pad, dilation);
    if (n == 0)
        return;
    depthwise_direct<<<blocks((size_t)l.pixels * c / 8, 256), 256>>>(y, x, w,
                                                                     l);
    CHECK(cudaGetLastError());
}
