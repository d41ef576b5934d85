// expect: WRONG
// says: .trans
// Loads the tiles of B as those of A: a lane has neighbours of a row, and needs those of a column.
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

// ---- Versions 2 and 3: the instructions themselves

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

// The same, each tile turned: its columns become the lanes' rows.
__device__ void load_turned(unsigned (&to)[4], unsigned row)
{
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(row));
}

// d += a b, of 16 x 16 and 16 x 8 numbers.
#define MULTIPLY(type, name)                                         \
    __device__ void multiply(float (&d)[4], const unsigned (&a)[4],  \
                             const unsigned *b, const type *)        \
    {                                                                \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name   \
            ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "              \
            "{%8, %9}, {%0, %1, %2, %3};"                            \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])         \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),            \
              "r"(b[0]), "r"(b[1]));                                 \
    }
MULTIPLY(__nv_bfloat16, "bf16")
MULTIPLY(__half, "f16")
#undef MULTIPLY

// A block makes ROWS x COLS sums, each warp 64 x 64 of them. Its tiles are
// ROWS x STEP and STEP x COLS numbers, in chunks of 8 (16 bytes).
enum { ROWS = 128, COLS = 128, STEP = 64, WARP = 64 };
enum { WIDE = COLS / WARP, THREADS = ROWS / WARP * WIDE * 32 };
enum { A_CHUNKS = STEP / 8, B_CHUNKS = COLS / 8 };
enum { A_BYTES = ROWS * STEP * 2, B_BYTES = STEP * COLS * 2 };

// The byte of a tile at which a chunk of a row lies. Swizzled, eight rows
// have the same chunk in eight different groups of four banks.
template <bool SWIZZLED>
__device__ unsigned place(int row, int chunk, int chunks)
{
    return (row * chunks + (SWIZZLED ? chunk ^ (row & 7) : chunk)) * 16;
}

// What a warp multiplies at a time: 16 columns of a's tile, rows of b's.
struct Fragments {
    unsigned a[WARP / 16][4], b[WARP / 16][4];
};

template <bool SWIZZLED>
__device__ void load(Fragments &f, unsigned a, unsigned b, int q)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = warp / WIDE * WARP, left = warp % WIDE * WARP;
    int row = lane % 16, half = lane / 16;
#pragma unroll
    for (int i = 0; i < WARP / 16; i++) {
        load_rows(f.a[i], a + place<SWIZZLED>(top + 16 * i + row,
                                              q / 8 + half, A_CHUNKS));
        load_rows(f.b[i], b + place<SWIZZLED>(q + row,
                                                left / 8 + 2 * i + half,
                                                B_CHUNKS));
    }
}

struct Sums {
    float of[WARP / 16][WARP / 8][4];
};

template <typename T>
__device__ void add(Sums &d, const Fragments &f)
{
#pragma unroll
    for (int i = 0; i < WARP / 16; i++)
#pragma unroll
        for (int j = 0; j < WARP / 8; j++)
            multiply(d.of[i][j], f.a[i], &f.b[j / 2][j % 2 * 2],
                     (const T *)NULL);
}

// Lane l has two neighbours in row l / 4 of each 8 x 8 sums.
__device__ void leave(float *c, const Sums &d, int row, int col, int m,
                      int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    row += warp / WIDE * WARP + lane / 4;
    col += warp % WIDE * WARP + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < WARP / 16; i++)
#pragma unroll
        for (int j = 0; j < WARP / 8; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int r = row + 16 * i + 8 * h, x = col + 8 * j;
                float *to = c + (size_t)r * n + x;
                const float *from = &d.of[i][j][2 * h];
                if (r < m && x + 1 < n && n % 2 == 0)
                    *(float2 *)to = make_float2(from[0], from[1]);
                else if (r < m && x < n) {
                    to[0] = from[0];
                    if (x + 1 < n)
                        to[1] = from[1];
                }
            }
}

// Version 2: the tiles as they come, with no fragments but our own.
template <typename T>
__global__ void product_mma(float *c, const T *a, const T *b, int m,
                            int n, int k)
{
    extern __shared__ __align__(128) char tiles[];
    int row = blockIdx.y * ROWS, col = blockIdx.x * COLS;
    T(&as)[ROWS][STEP] = *(T(*)[ROWS][STEP])tiles;
    T(&bs)[STEP][COLS] = *(T(*)[STEP][COLS])(tiles + A_BYTES);
    Sums d = {};
    Fragments f;

    for (int p = 0; p < k; p += STEP) {
        stage(as, a, row, p, m, k);
        stage(bs, b, p, col, k, n);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < STEP; q += 16) {
            load<false>(f, shared(as), shared(bs), q);
            add<T>(d, f);
        }
        __syncthreads();
    }
    leave(c, d, row, col, m, n);
}

template <typename T>
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;
    dim3 grid((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS);
    int bytes = A_BYTES + B_BYTES;
    CHECK(cudaFuncSetAttribute(product_mma<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    product_mma<T><<<grid, THREADS, bytes>>>(c, a, b, m, n, k);
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
