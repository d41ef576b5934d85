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

//> layer
// What a function is called with, and what follows from it.
struct Layer {
    int n, height, width, c, k, r, s, stride, pad, dilation;
    int p, q;    // the height and width of y
    int pixels;  // of all pictures of y: rows of the matrix of columns
    int depth;   // numbers of a filter: columns of the matrix
};
//< layer

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

//> address-function
// The pixels of x that one pixel of y is made from.
struct Window {
    const bf16 *picture;  // the first number of its picture
    int row, col;         // of its first pixel, which may be in the padding
};

// The window of pixel m of y. The pixels of all pictures are counted.
__device__ Window window(const bf16 *x, const Layer &l, int m)
{
    //> window TODO: the picture, and the window's first pixel (3 lines)
    //| (void)l, (void)m;
    //| return {x, 0, 0};
    int b = m / (l.p * l.q), i = m / l.q % l.p, j = m % l.q;
    //> first
    return {x + (size_t)b * l.height * l.width * l.c,
            i * l.stride - l.pad, j * l.stride - l.pad};
    //< first
    //< window
}

// Where in x the number is that number d of a filter is multiplied by. NULL:
// it is in the padding, and so it is 0.
__device__ const bf16 *address(const Window &from, const Layer &l, int d)
{
    //> address TODO: the number's pixel and channel (6 lines)
    //| (void)from, (void)l, (void)d;
    //| return NULL;
    //> split
    int ch = d % l.c, u = d / l.c / l.s, v = d / l.c % l.s;
    //< split
    //> place
    int row = from.row + u * l.dilation, col = from.col + v * l.dilation;
    //< place
    //> padding
    if (row < 0 || row >= l.height || col < 0 || col >= l.width)
        return NULL;
    //< padding
    return from.picture + ((size_t)row * l.width + col) * l.c + ch;
    //< address
}
//< address-function

//> direct
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
//< direct

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

//> stage
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
//< stage

typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums[2][2];

//> multiply
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
//< multiply

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

//> leave
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
//< leave

//> product
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
//< product

//> im2col-kernel TODO:
//> im2col
// Version 2: a thread stores eight numbers of the matrix of columns.
__global__ void im2col(bf16 *columns, const bf16 *x, Layer l)
{
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= (size_t)l.pixels * l.depth)
        return;
    const bf16 *at = address(window(x, l, i / l.depth), l, i % l.depth);
    //> im2col-store
    *(uint4 *)(columns + i) = load_or_zero(at);
    //< im2col-store
}
//< im2col
//< im2col-kernel

//> implicit-kernel TODO:
//> implicit
// Version 3: the same tile as `stage` would copy from the matrix of columns.
// A thread has the same pixels of y for all of d.
__device__ void stage_columns(Tile &tile, const Window (&from)[PARTS],
                              int row, int d, const Layer &l)
{
    int first = row + threadIdx.x / IN_A_ROW;
    int e = d + threadIdx.x % IN_A_ROW * 8;
    uint4 eight[PARTS];
    for (int h = 0; h < PARTS; h++) {
        //> columns-inside
        bool inside = first + h * APART < l.pixels && e < l.depth;
        //< columns-inside
        eight[h] = load_or_zero(inside ? address(from[h], l, e) : NULL);
    }
    store_parts(tile, eight);
}

__global__ void implicit(bf16 *y, const bf16 *x, const bf16 *w, Layer l)
{
    __shared__ __align__(32) Tile a, b;
    int row = blockIdx.x * TILE, col = blockIdx.y * TILE;
    Sums sum;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    Window from[PARTS];
    for (int h = 0; h < PARTS; h++)
        from[h] = window(x, l, row + threadIdx.x / IN_A_ROW + h * APART);

    //> each-depth
    for (int d = 0; d < l.depth; d += DEPTH) {
    //< each-depth
        stage_columns(a, from, row, d, l);
        stage(b, w, col, d, l.k, l);
        __syncthreads();
        multiply(sum, a, b);
        //> implicit-barrier
        __syncthreads();
        //< implicit-barrier
    }
    leave(y, sum, row, col, l);
}
//< implicit
//< implicit-kernel

//> instructions TODO:
// ---- Version 5: the instructions themselves, as in lesson 17

__device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// Four tiles of 8 x 8: lane l says where row l % 8 of tile l / 8 begins.
__device__ void load_rows(unsigned (&to)[4], unsigned row)
{
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(row));
}

// d += a b, of 16 x 16 and 16 x 8 numbers.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4],
                         const unsigned *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Copies 16 bytes to shared memory without waiting for them, or writes zeros:
// then nothing is read, wherever `from` points.
__device__ void copy_or_zero(unsigned to, const bf16 *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 : : "r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// Ends a group of copies; waits for all groups but the latest few.
__device__ void commit()
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}

template <int FEW>
__device__ void wait_but()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(FEW) : "memory");
}
//< instructions

//> sizes TODO:
// A block makes ROWS x COLS sums from tiles of ROWS x STEP and COLS x STEP
// numbers, in chunks of 8 (16 bytes). A row of a tile has 128 bytes, and so
// has a row of the block's part of y. Each of 4 warps makes 64 x 32 sums.
enum { ROWS = 128, COLS = 64, STEP = 64, CHUNKS = STEP / 8, STAGES = 3 };
enum { STAGE_BYTES = (ROWS + COLS) * STEP * 2 };

// A thread copies the same chunk of every LANESth row.
enum { LANES = THREADS / CHUNKS, A_ROWS = ROWS / LANES, B_ROWS = COLS / LANES };

// The byte of a tile at which a chunk of a row begins. Eight rows have the
// same chunk in eight different groups of four banks.
__device__ unsigned place(int row, int chunk)
{
    return (row * CHUNKS + (chunk ^ (row & 7))) * 16;
}
//< sizes

//> gather TODO:
// What a thread copies of the matrix of columns: the windows of its rows,
// and the place in the filter of its chunk of the next step. Indices in x
// are taken modulo 2^32: one that is inside of the picture is right.
struct Gather {
    unsigned from[A_ROWS];  // the index of a window's first number
    short2 place[A_ROWS];   // and its row and column
    int u, v, ch;
};

// Goes on by so many numbers of the filter.
__device__ void advance(Gather &g, int numbers, const Layer &l)
{
    for (g.ch += numbers; g.ch >= l.c; g.ch -= l.c)
        if (++g.v == l.s)
            g.v = 0, g.u++;
}

__device__ Gather gather(const Layer &l, int first)
{
    Gather g = {};
#pragma unroll
    for (int h = 0; h < A_ROWS; h++) {
        int m = first + h * LANES, b = m / (l.p * l.q);
        int row = m / l.q % l.p * l.stride - l.pad;
        int col = m % l.q * l.stride - l.pad;
        g.from[h] = ((unsigned)(b * l.height + row) * l.width + col) * l.c;
        g.place[h] = make_short2(m < l.pixels ? row : SHRT_MIN, col);
    }
    advance(g, threadIdx.x % CHUNKS * 8, l);
    return g;
}

// Begins the copies of a step, whose first number of each filter is d.
__device__ void fetch(unsigned to, Gather &g, const bf16 *x, const bf16 *w,
                      int d, int col, const Layer &l)
{
    int chunk = threadIdx.x % CHUNKS, row = threadIdx.x / CHUNKS;
    d += chunk * 8;
    int u = g.u * l.dilation, v = g.v * l.dilation;
    unsigned height = d < l.depth ? l.height : 0;  // 0: no row is inside
    unsigned along = (u * l.width + v) * l.c + g.ch;
    to += place(row, chunk);
#pragma unroll
    for (int h = 0; h < A_ROWS; h++) {
        //> copy-part
        bool inside = (unsigned)(g.place[h].x + u) < height
                   && (unsigned)(g.place[h].y + v) < (unsigned)l.width;
        copy_or_zero(to + h * LANES * STEP * 2, x + (g.from[h] + along),
                     inside);
        //< copy-part
    }
    to += ROWS * STEP * 2;
    unsigned at = (unsigned)(col + row) * l.depth + d;
#pragma unroll
    for (int h = 0; h < B_ROWS; h++)
        copy_or_zero(to + h * LANES * STEP * 2, w + (at + h * LANES * l.depth),
                     col + row + h * LANES < l.k && d < l.depth);
    advance(g, STEP, l);
}
//< gather

//> stages TODO:
typedef float WarpSums[4][4][4];  // of 16 x 8 sums each: rows, columns, four

// Adds the product of a stage's tiles to the warp's sums.
__device__ void add(WarpSums &sum, unsigned at)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = warp / 2 * 64, left = warp % 2 * 32;
#pragma unroll
    for (int e = 0; e < CHUNKS; e += 2) {
        unsigned a[4][4], b[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            load_rows(a[i], at + place(top + 16 * i + lane % 16,
                                       e + lane / 16));
#pragma unroll
        for (int j = 0; j < 2; j++)
            load_rows(b[j], at + ROWS * STEP * 2
                                + place(left + 16 * j + lane / 16 * 8
                                            + lane % 8,
                                        e + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                multiply(sum[i][j], a[i], &b[j / 2][j % 2 * 2]);
    }
}

// Rounds the sums, and stores them by way of a tile, 16 bytes at a time.
__device__ void leave(bf16 *y, char *tile, const WarpSums &sum, int row,
                      int col, const Layer &l)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = warp / 2 * 64 + lane / 4, left = warp % 2 * 4;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                *(unsigned *)(tile + place(top + 16 * i + 8 * h, left + j)
                              + lane % 4 * 4) =
                    pack(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * COLS / 8; i += THREADS) {
        int m = row + i / CHUNKS, f = col + i % CHUNKS * 8;
        if (m < l.pixels && f < l.k)
            *(uint4 *)(y + (size_t)m * l.k + f) =
                *(uint4 *)(tile + place(i / CHUNKS, i % CHUNKS));
    }
}

// While one stage is multiplied, the next ones are under way.
__global__ void __launch_bounds__(THREADS)
    implicit_stages(bf16 *y, const bf16 *x, const bf16 *w, Layer l)
{
    extern __shared__ __align__(128) char tiles[];
    int row = blockIdx.x * ROWS, col = blockIdx.y * COLS;
    int steps = (l.depth + STEP - 1) / STEP;
    unsigned to = shared(tiles);
    Gather g = gather(l, row + threadIdx.x / CHUNKS);
    WarpSums sum = {};

    for (int t = 0; t < STAGES - 1; t++) {
        if (t < steps)
            fetch(to + t * STAGE_BYTES, g, x, w, t * STEP, col, l);
        commit();
    }
    for (int t = 0; t < steps; t++) {
        int ahead = t + STAGES - 1;
        wait_but<STAGES - 2>();
        __syncthreads();
        if (ahead < steps)
            fetch(to + ahead % STAGES * STAGE_BYTES, g, x, w, ahead * STEP,
                  col, l);
        commit();
        add(sum, to + t % STAGES * STAGE_BYTES);
    }
    __syncthreads();
    leave(y, tiles, sum, row, col, l);
}
//< stages

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

//> depthwise-direct
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
        //> depthwise-add
        unpack8(pixel, load_or_zero(address(from, l, d)));
        unpack8(filter, load_or_zero(w + d));
        for (int e = 0; e < 8; e++)
            sum[e] += pixel[e] * filter[e];
        //< depthwise-add
    }
    *(uint4 *)(y + i) = pack8(sum);
}
//< depthwise-direct

//> march-kernel TODO:
//> march
enum { BAND = 14 };  // rows of y that a thread makes

// Adds three neighbouring pixels of a row of x to the sums of the three rows
// of y that it is a part of.
__device__ void add_row(float (&upper)[8], float (&middle)[8],
                        float (&lower)[8], const uint4 (&eight)[3],
                        const float (&filter)[3][3][8])
{
    for (int v = 0; v < 3; v++) {
        float pixel[8];
        unpack8(pixel, eight[v]);
        for (int e = 0; e < 8; e++) {
            //> march-add
            upper[e] += pixel[e] * filter[2][v][e];
            middle[e] += pixel[e] * filter[1][v][e];
            lower[e] += pixel[e] * filter[0][v][e];
            //< march-add
        }
    }
}

// Version 4, for filters of 3 x 3 with stride and dilation 1: a thread makes
// eight channels of a column of y, from the top of a band to its bottom.
__global__ void depthwise_march(bf16 *y, const bf16 *x, const bf16 *w,
                                Layer l)
{
    int chunks = l.c / 8, i = blockIdx.x * blockDim.x + threadIdx.x;
    int ch = i % chunks * 8, j = i / chunks, b = blockIdx.z;
    if (j >= l.q)
        return;

    //> march-filter
    float filter[3][3][8];
    for (int u = 0; u < 3; u++)
        for (int v = 0; v < 3; v++)
            unpack8(filter[u][v], load_or_zero(w + (3 * u + v) * l.c + ch));
    //< march-filter

    int top = blockIdx.y * BAND, bottom = min(top + BAND, l.p);
    x += ((size_t)b * l.height * l.width + j - l.pad) * l.c + ch;
    y += ((size_t)b * l.p * l.q + j) * l.c + ch;

    float sum[3][8] = {};
    //> march-rows
    for (int row = top - l.pad; row < bottom - l.pad + 2; row++) {
    //< march-rows
        uint4 eight[3];  // all three are asked for before the first is used
        for (int v = 0; v < 3; v++) {
            int col = j - l.pad + v;
            bool inside = row >= 0 && row < l.height
                       && col >= 0 && col < l.width;
            size_t at = ((size_t)row * l.width + v) * l.c;
            eight[v] = load_or_zero(inside ? x + at : NULL);
        }
        add_row(sum[0], sum[1], sum[2], eight, filter);
        int done = row + l.pad - 2;  // the row of y that is complete
        if (done >= top)
            *(uint4 *)(y + (size_t)done * l.q * l.c) = pack8(sum[0]);
        for (int e = 0; e < 8; e++) {  // the next row of y is the upper one
            sum[0][e] = sum[1][e];
            sum[1][e] = sum[2][e];
            sum[2][e] = 0;
        }
    }
}
//< march
//< march-kernel

//> ring TODO:
// Version 5: a block makes a strip of 16 pixels and 64 channels, from the top
// of a band to its bottom. Rows of x arrive in a ring of tiles, AHEAD of the
// row that is added, and no register waits for them.
enum { ACROSS = THREADS / 8, AHEAD = 5, RING = AHEAD + 1, DOWN = 16 };
typedef uint4 Strip[ACROSS + 2][8];  // a row of x: pixels, chunks of channels

// What a thread copies of a row: a chunk, and some threads another.
struct Copies {
    const bf16 *from[2];
    bool inside[2];
};

__device__ void fetch(Strip &strip, Copies &copies, bool inside,
                      const Layer &l)
{
    unsigned to = shared(strip) + threadIdx.x * 16;
    copy_or_zero(to, copies.from[0], inside && copies.inside[0]);
    if (threadIdx.x < 2 * 8)
        copy_or_zero(to + THREADS * 16, copies.from[1],
                     inside && copies.inside[1]);
    for (int h = 0; h < 2; h++)
        copies.from[h] += l.width * l.c;  // the next row
}

__global__ void __launch_bounds__(THREADS)
    depthwise_ring(bf16 *y, const bf16 *x, const bf16 *w, Layer l)
{
    __shared__ Strip ring[RING];
    int strips = (l.q + ACROSS - 1) / ACROSS, b = blockIdx.z;
    int left = blockIdx.x % strips * ACROSS, top = blockIdx.y * DOWN;
    int pixel = threadIdx.x / 8, chunk = threadIdx.x % 8, j = left + pixel;
    int ch = blockIdx.x / strips * 64 + chunk * 8;
    int rows = min(DOWN, l.p - top) + 2;  // of x
    bool mine = j < l.q && ch < l.c;
    y += (((size_t)b * l.p + top) * l.q + j) * l.c + ch;

    Copies copies;
    int row = top - l.pad;  // of x, that is copied next
    int end = min(row + rows, l.height);
    for (int h = 0; h < 2; h++) {
        int col = j - l.pad + h * ACROSS;
        copies.from[h] =
            x + (((size_t)b * l.height + row) * l.width + col) * l.c + ch;
        copies.inside[h] = col >= 0 && col < l.width && ch < l.c;
    }
    for (int t = 0; t < AHEAD; t++, row++) {
        fetch(ring[t], copies, row >= 0 && row < end, l);
        commit();
    }
    float filter[3][3][8], sum[3][8] = {};
    for (int d = 0; d < 9; d++) {
        float (&to)[8] = filter[d / 3][d % 3];
        unpack8(to, load_or_zero(mine ? w + d * l.c + ch : NULL));
        for (int e = 0; e < 8; e++)  // or it is unpacked anew for each row
            asm volatile("" : "+f"(to[e]));
    }

    int slot = 0;
    //> ring-rows
    for (int t = 0; t < rows; t += 3)
#pragma unroll
        for (int k = 0; k < 3; k++, row++) {  // sum[k] is the upper one
            wait_but<AHEAD - 1>();
            __syncthreads();
            fetch(ring[slot ? slot - 1 : RING - 1], copies,
                  row >= 0 && row < end, l);
            commit();
            uint4 eight[3];
            for (int v = 0; v < 3; v++)
                eight[v] = ring[slot][pixel + v][chunk];
            add_row(sum[k], sum[(k + 1) % 3], sum[(k + 2) % 3], eight,
                    filter);
            if (mine && t + k >= 2 && t + k < rows)
                *(uint4 *)y = pack8(sum[k]), y += (size_t)l.q * l.c;
            for (int e = 0; e < 8; e++)
                sum[k][e] = 0;
            slot = slot + 1 < RING ? slot + 1 : 0;
        }
    //< ring-rows
}
//< ring

//> version TODO:
#ifndef VERSION
#define VERSION 5  // what the functions launch
#endif
//< version

// Blocks for so many items.
static unsigned blocks(size_t items, int a_block)
{
    return (unsigned)((items + a_block - 1) / a_block);
}

//> launch
extern "C" void convolve(bf16 *y, const bf16 *x, const bf16 *w,
                         bf16 *workspace, int n, int height, int width,
                         int c, int k, int r, int s, int stride, int pad,
                         int dilation)
{
    Layer l = layer(n, height, width, c, k, r, s, stride, pad, dilation);
    if (n == 0)
        return;  // a grid of no blocks is an error
    //> choose TODO:
    dim3 grid(blocks(l.pixels, TILE), blocks(k, TILE));
    if (VERSION == 5) {
        int bytes = STAGES * STAGE_BYTES;
        CHECK(cudaFuncSetAttribute(
            implicit_stages, cudaFuncAttributeMaxDynamicSharedMemorySize,
            bytes));
        implicit_stages<<<dim3(blocks(l.pixels, ROWS), blocks(k, COLS)),
                          THREADS, bytes>>>(y, x, w, l);
        CHECK(cudaGetLastError());
        return;
    }
    if (VERSION >= 3) {
        implicit<<<grid, THREADS>>>(y, x, w, l);
        CHECK(cudaGetLastError());
        return;
    }
    if (VERSION == 2) {
        //> launch-im2col
        im2col<<<blocks((size_t)l.pixels * l.depth / 8, 256), 256>>>(
            workspace, x, l);
        CHECK(cudaGetLastError());
        product<<<grid, THREADS>>>(y, workspace, w, l);
        CHECK(cudaGetLastError());
        //< launch-im2col
        return;
    }
    //< choose
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
    //> choose-depthwise TODO:
    if (VERSION == 5 && r == 3 && s == 3 && stride == 1 && dilation == 1) {
        dim3 grid(blocks(l.q, ACROSS) * blocks(c, 64), blocks(l.p, DOWN), n);
        depthwise_ring<<<grid, THREADS>>>(y, x, w, l);
        CHECK(cudaGetLastError());
        return;
    }
    if (VERSION >= 4 && r == 3 && s == 3 && stride == 1 && dilation == 1) {
        dim3 grid(blocks((size_t)l.q * c / 8, 128), blocks(l.p, BAND), n);
        depthwise_march<<<grid, 128>>>(y, x, w, l);
        CHECK(cudaGetLastError());
        return;
    }
    //< choose-depthwise
    depthwise_direct<<<blocks((size_t)l.pixels * c / 8, 256), 256>>>(y, x, w,
                                                                     l);
    CHECK(cudaGetLastError());
}
//< launch
