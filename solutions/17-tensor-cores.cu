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

//> naive
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

    //> rows
    const T *a_row = a + (size_t)row * pitch(k);  // A's rows have gaps
    //< rows
    float sum = 0;
    //> sum TODO: add k products to `sum` (2 lines)
    //| (void)a_row, (void)b;
    for (int p = 0; p < k; p++)
        sum += float(a_row[p]) * float(b[(size_t)p * pitch(n) + col]);
    //< sum
    c[(size_t)row * n + col] = sum;  // C's rows have none
}
//< naive

//> tile-size
enum { TILE = 64, DEPTH = 32 };  // a block of 4 warps makes TILE x TILE sums
//< tile-size

//> stage
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
        //> part
        if (inside >= 8)
            *(uint4 *)&tile[r][x] = *(const uint4 *)at;
        else
            for (int j = 0; j < 8; j++)
                tile[r][x + j] = j < inside ? at[j] : T(0.0f);
        //< part
    }
}
//< stage

//> tensor TODO:
//> wmma
// Version 2: four warps make 32 x 32 sums each: four fragments of 16 x 16.
template <typename T>
__global__ void product_wmma(float *c, const T *a, const T *b, int m,
                             int n, int k)
{
    //> tiles
    __shared__ __align__(32) T as[TILE][DEPTH], bs[DEPTH][TILE];
    //< tiles
    //> sums-tile
    __shared__ __align__(32) float cs[TILE][TILE];
    //< sums-tile
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    //> warps
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;
    //< warps

    //> sums
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);
    //< sums

    //> each-depth
    for (int p = 0; p < k; p += DEPTH) {
    //< each-depth
        stage<DEPTH>(as, a, row, p, m, k);
        stage<TILE>(bs, b, p, col, k, n);
        __syncthreads();
        //> steps
        for (int q = 0; q < DEPTH; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, T,
                           wmma::row_major> fa[2];
            //> b-fragments
            wmma::fragment<wmma::matrix_b, 16, 16, 16, T,
                           wmma::row_major> fb[2];
            //< b-fragments
            for (int i = 0; i < 2; i++) {
                //> load-fragments
                wmma::load_matrix_sync(fa[i], &as[top + 16 * i][q], DEPTH);
                wmma::load_matrix_sync(fb[i], &bs[q][left + 16 * i], TILE);
                //< load-fragments
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        //< steps
        __syncthreads();
    }

    //> leave
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&cs[top + 16 * i][left + 16 * j],
                                    sum[i][j], TILE,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int r = row + i / TILE, x = col + i % TILE;
        //> inside
        if (r < m && x < n)
            c[(size_t)r * n + x] = cs[i / TILE][i % TILE];
        //< inside
    }
    //< leave
}
//< wmma
//< tensor

//> padding TODO:
//> padded
// Version 3: the same, with 8 more numbers in each row of the tiles.
template <typename T>
__global__ void product_padded(float *c, const T *a, const T *b, int m,
                             int n, int k)
{
    __shared__ __align__(32) T as[TILE][DEPTH + 8], bs[DEPTH][TILE + 8];
    __shared__ __align__(32) float cs[TILE][TILE + 8];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);

    for (int p = 0; p < k; p += DEPTH) {
        stage<DEPTH>(as, a, row, p, m, k);
        stage<TILE>(bs, b, p, col, k, n);
        __syncthreads();
        for (int q = 0; q < DEPTH; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, T,
                           wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, T,
                           wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &as[top + 16 * i][q], DEPTH + 8);
                wmma::load_matrix_sync(fb[i], &bs[q][left + 16 * i], TILE + 8);
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
                                    sum[i][j], TILE + 8,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        int r = row + i / TILE, x = col + i % TILE;
        if (r < m && x < n)
            c[(size_t)r * n + x] = cs[i / TILE][i % TILE];
    }
}
//< padded
//< padding

//> instructions TODO:
// ---- Version 4: the instructions themselves

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
//< instructions

//> sizes TODO:
// A block makes ROWS x COLS sums, each warp 64 x 64 of them. Its tiles are
// ROWS x STEP and STEP x COLS numbers, in chunks of 8 (16 bytes).
enum { ROWS = 128, COLS = 128, STEP = 64, WARP = 64 };
enum { WIDE = COLS / WARP, THREADS = ROWS / WARP * WIDE * 32 };
enum { A_CHUNKS = STEP / 8, B_CHUNKS = COLS / 8 };
enum { A_BYTES = ROWS * STEP * 2, B_BYTES = STEP * COLS * 2 };
//< sizes

//> swizzle TODO:
// The byte of a tile at which a chunk of a row begins. Eight rows
// have the same chunk in eight different groups of four banks.
__device__ unsigned place(int row, int chunk, int chunks)
{
    return (row * chunks + (chunk ^ (row & 7))) * 16;
}
//< swizzle

//> fragments TODO:
// What a warp multiplies at a time: 16 columns of a's tile, rows of b's.
struct Fragments {
    unsigned a[WARP / 16][4], b[WARP / 16][4];
};

__device__ void load(Fragments &f, unsigned a, unsigned b, int q)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = warp / WIDE * WARP, left = warp % WIDE * WARP;
    int row = lane % 16, half = lane / 16;
#pragma unroll
    for (int i = 0; i < WARP / 16; i++) {
        load_rows(f.a[i], a + place(top + 16 * i + row,
                                              q / 8 + half, A_CHUNKS));
        load_turned(f.b[i], b + place(q + row,
                                                left / 8 + 2 * i + half,
                                                B_CHUNKS));
    }
}
//< fragments

//> sums-of-a-warp TODO:
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
//< sums-of-a-warp

//> copies TODO:
// Copies 16 bytes to shared memory without waiting for them; those
// beyond the first `bytes` become 0, and are not read.
__device__ void copy(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 : : "r"(to), "l"(from), "r"(bytes) : "memory");
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
//< copies

//> stages TODO:
enum { STAGES = 3, STAGE_BYTES = A_BYTES + B_BYTES };

// What a thread copies of each tile: the same chunk of rows so far apart.
struct Mine {
    const char *a, *b;       // of the first step
    size_t a_apart, b_apart;  // bytes from a row to its next row
    unsigned a_to, b_to;
    int rows, bytes;          // of a that are there; of b's chunk
    int a_at, b_at;           // its column in a's tile, its row in b's
};
enum { A_APART = THREADS / A_CHUNKS, B_APART = THREADS / B_CHUNKS };

template <typename T>
__device__ Mine mine_of(const T *a, const T *b, int row, int col, int m,
                        int n, int k)
{
    int t = threadIdx.x, ar = t / A_CHUNKS, ac = t % A_CHUNKS;
    int br = t / B_CHUNKS, bc = t % B_CHUNKS;
    Mine x;
    x.a = (const char *)(a + (size_t)(row + ar) * pitch(k) + ac * 8);
    x.b = (const char *)(b + (size_t)br * pitch(n) + col + bc * 8);
    x.a_apart = (size_t)A_APART * pitch(k) * 2;
    x.b_apart = (size_t)B_APART * pitch(n) * 2;
    x.a_to = place(ar, ac, A_CHUNKS);
    x.b_to = A_BYTES + place(br, bc, B_CHUNKS);
    x.rows = m - row - ar;
    x.bytes = max(0, min(16, (n - col - bc * 8) * 2));
    x.a_at = ac * 8;
    x.b_at = br;
    return x;
}

// The `part`th of `parts` parts of the step that begins at column p.
__device__ void fetch(const Mine &x, unsigned to, int p, int n, int k,
                      int part, int parts)
{
    int bytes = max(0, min(16, (k - p - x.a_at) * 2));
    enum { A_COUNT = ROWS / A_APART, B_COUNT = STEP / B_APART };
#pragma unroll
    for (int i = 0; i < A_COUNT; i++)
        if (i * parts / A_COUNT == part)
            copy(to + x.a_to + i * A_APART * A_CHUNKS * 16,
                 x.a + p * 2 + i * x.a_apart,
                 i * A_APART < x.rows ? bytes : 0);
#pragma unroll
    for (int i = 0; i < B_COUNT; i++)
        if (i * parts / B_COUNT == part)
            copy(to + x.b_to + i * B_APART * B_CHUNKS * 16,
                 x.b + (size_t)p * pitch(n) * 2 + i * x.b_apart,
                 p + x.b_at + i * B_APART < k ? x.bytes : 0);
}
//< stages

//> pipeline TODO:
// Version 4: while one stage is multiplied, the next ones are under way.
template <typename T>
__global__ void __launch_bounds__(THREADS)
    product_stages(float *c, const T *a, const T *b, int m, int n, int k)
{
    extern __shared__ __align__(128) char tiles[];
    // Blocks that run together share rows of A and columns of B in L2.
    enum { GROUP = 16 };
    int across = (n + COLS - 1) / COLS, down = (m + ROWS - 1) / ROWS;
    int group = blockIdx.x / (GROUP * across), first = group * GROUP;
    int high = min(GROUP, down - first);
    int rest = blockIdx.x % (GROUP * across);
    int row = (first + rest % high) * ROWS, col = rest / high * COLS;

    unsigned to = shared(tiles);
    Mine mine = mine_of(a, b, row, col, m, n, k);
    Sums d = {};
    Fragments f[2];
    int steps = (k + STEP - 1) / STEP;
    for (int t = 0; t < STAGES - 1; t++) {
        if (t < steps)
            fetch(mine, to + t * STAGE_BYTES, t * STEP, n, k, 0, 1);
        commit();
    }
    //> wait-first
    wait_but<STAGES - 2>();
    //< wait-first
    __syncthreads();
    if (steps > 0)
        load(f[0], to, to + A_BYTES, 0);

    int now = 0, last = STAGES - 1;
    for (int t = 0; t < steps; t++) {
        int next = now + 1 < STAGES ? now + 1 : 0, ahead = t + STAGES - 1;
#pragma unroll
        for (int q = 0; q < STEP / 16; q++) {
            unsigned at = to + (q < STEP / 16 - 1 ? now : next) * STAGE_BYTES;
            if (q == STEP / 16 - 1) {
                //> wait-next
                wait_but<STAGES - 2>();
                //< wait-next
                __syncthreads();
            }
            if (q < STEP / 16 - 1 || t + 1 < steps)
                load(f[(q + 1) % 2], at, at + A_BYTES,
                           (q + 1) * 16 % STEP);
            if (q < STEP / 16 - 1 && ahead < steps)
                fetch(mine, to + last * STAGE_BYTES, ahead * STEP, n, k, q,
                      STEP / 16 - 1);
            if (q == STEP / 16 - 2)
                commit();
            add<T>(d, f[q % 2]);
        }
        now = next;
        last = last + 1 < STAGES ? last + 1 : 0;
    }
    leave(c, d, row, col, m, n);
}
//< pipeline

//> version TODO:
#ifndef VERSION
#define VERSION 4  // the kernel that `matmul` launches
#endif
//< version

//> launch
template <typename T>
void matmul(float *c, const T *a, const T *b, int m, int n, int k)
{
    //> empty
    if (m == 0 || n == 0)
        return;  // a grid of no blocks is an error
    //< empty
    //> stages-launch TODO:
    if (VERSION == 4) {
        int across = (n + COLS - 1) / COLS, down = (m + ROWS - 1) / ROWS;
        int bytes = STAGES * STAGE_BYTES;
        CHECK(cudaFuncSetAttribute(
            product_stages<T>,
            cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        product_stages<T>
            <<<across * down, THREADS, bytes>>>(c, a, b, m, n, k);
        CHECK(cudaGetLastError());
        return;
    }
    //< stages-launch
    //> choice TODO:
    //| int side = 16;  // a block makes side x side elements of C
    //| auto kernel = product_naive<T>;
    //| dim3 block(side, side);
    int side = VERSION == 1 ? 16 : TILE;
    auto kernel = VERSION == 1   ? product_naive<T>
                  : VERSION == 2 ? product_wmma<T>
                                 : product_padded<T>;
    dim3 block = VERSION == 1 ? dim3(side, side) : dim3(128);
    //< choice
    dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    //> run
    kernel<<<grid, block>>>(c, a, b, m, n, k);
    //< run
    CHECK(cudaGetLastError());  // the caller synchronises
}

//> bf16
extern "C" void matmul_bf16(float *c, const __nv_bfloat16 *a,
                            const __nv_bfloat16 *b, int m, int n, int k)
{
    matmul(c, a, b, m, n, k);
}
//< bf16

extern "C" void matmul_f16(float *c, const __half *a, const __half *b,
                           int m, int n, int k)
{
    matmul(c, a, b, m, n, k);
}
//< launch
