// Lesson 24: attention that never stores its matrix of scores.
//
// A softmax can be corrected when its maximum moves, and so can every sum that
// its weights were multiplied into.
#include "24-flash-attention.h"

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

typedef __nv_bfloat16 bf16;

// Numbers `at` and `at` + 1 of a matrix; `at` is even.
__device__ float2 two(const bf16 *matrix, size_t at)
{
    return __bfloat1622float2(*(const __nv_bfloat162 *)&matrix[at]);
}

// Two neighbours in a register, the first in its lower half.
__device__ unsigned pack(float first, float second)
{
    __nv_bfloat162 two = __floats2bfloat162_rn(first, second);
    return *(unsigned *)&two;
}

//> naive
// Version 1: three kernels. Between them a matrix of scores is in memory,
// length x length floats for each head.

//> score
// Each thread computes the score of a query and a key.
template <int D>
__global__ void score_kernel(float *scores, const bf16 *q, const bf16 *k,
                             int length, int causal)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t head = (size_t)blockIdx.z * length;  // its first row
    if (key >= length || row >= length)
        return;

    float score = -INFINITY;  // of a key that the query does not see
    //> one-score TODO: the score of a key that the query sees (9 lines)
    //| (void)q, (void)k, (void)causal;
    if (!causal || key <= row) {
        score = 0;
        for (int d = 0; d < D; d += 2) {
            float2 a = two(q, (head + row) * D + d);
            float2 b = two(k, (head + key) * D + d);
            score += a.x * b.x + a.y * b.y;
        }
        score /= sqrtf(D);
    }
    //< one-score
    scores[(head + row) * length + key] = score;
}
//< score

// A warp makes weights of a row of scores, in place.
__global__ void softmax_kernel(float *scores, int length)
{
    float *row = scores + ((size_t)blockIdx.y * length + blockIdx.x) * length;
    float m = -INFINITY, sum = 0;
    for (int key = threadIdx.x; key < length; key += 32)
        m = fmaxf(m, row[key]);
    for (int lane = 16; lane > 0; lane /= 2)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, lane));
    for (int key = threadIdx.x; key < length; key += 32)
        sum += row[key] = __expf(row[key] - m);
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, lane);
    for (int key = threadIdx.x; key < length; key += 32)
        row[key] /= sum;
}

// Each thread adds up two numbers of out.
template <int D>
__global__ void value_kernel(bf16 *out, const float *weights, const bf16 *v,
                             int length, int causal)
{
    size_t head = (size_t)blockIdx.y * length;
    int row = blockIdx.x, d = threadIdx.x * 2, keys = causal ? row + 1 : length;
    const float *weight = weights + (head + row) * length;
    float2 sum = make_float2(0, 0);
    for (int key = 0; key < keys; key++) {
        float2 value = two(v, (head + key) * D + d);
        sum.x += weight[key] * value.x;
        sum.y += weight[key] * value.y;
    }
    *(unsigned *)&out[(head + row) * D + d] = pack(sum.x, sum.y);
}

template <int D>
void attention_in_memory(bf16 *out, const bf16 *q, const bf16 *k,
                         const bf16 *v, int heads, int length, int causal)
{
    float *scores;
    CHECK(cudaMalloc(&scores, (size_t)heads * length * length * sizeof(float)));
    dim3 block(32, 8), grid((length + 31) / 32, (length + 7) / 8, heads);
    score_kernel<D><<<grid, block>>>(scores, q, k, length, causal);
    CHECK(cudaGetLastError());
    softmax_kernel<<<dim3(length, heads), 32>>>(scores, length);
    CHECK(cudaGetLastError());
    value_kernel<D>
        <<<dim3(length, heads), D / 2>>>(out, scores, v, length, causal);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(scores));  // waits for the kernels
}
//< naive

//> four
// The largest x, and the sum, of the four lanes that share a row.
__device__ float largest_of_four(float x)
{
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ float sum_of_four(float x)
{
    x += __shfl_xor_sync(0xffffffff, x, 1);
    return x + __shfl_xor_sync(0xffffffff, x, 2);
}
//< four

//> stage-floats
// Rows of a block, and keys of a tile. Four lanes share a row.
enum { ROWS = 64, KEYS = 32 };

// Copies KEYS rows, from row `first` on, to a tile of floats. Rows beyond the
// matrix become 0.
template <int D>
__device__ void stage_floats(float (&tile)[KEYS][D], const bf16 *from,
                             int first, int length)
{
    for (int i = threadIdx.x * 2; i < KEYS * D; i += blockDim.x * 2) {
        int r = i / D, d = i % D;
        float2 x = make_float2(0, 0);
        if (first + r < length)
            x = two(from, (size_t)(first + r) * D + d);
        *(float2 *)&tile[r][d] = x;
    }
}
//< stage-floats

//> tiles TODO:
//> online
// Version 2: a block has 64 queries, and takes the keys in tiles of 32. Lane
// `part` of a row's four has numbers 4 part to 4 part + 3 of each 16.
template <int D>
__global__ void __launch_bounds__(ROWS * 4)
    attention_tiles(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                    int length, int causal)
{
    __shared__ __align__(16) float ks[KEYS][D], vs[KEYS][D];
    int row = blockIdx.x * ROWS + threadIdx.x / 4, part = threadIdx.x % 4;
    size_t head = (size_t)blockIdx.y * length * D;  // its first number
    q += head, k += head, v += head, out += head;

    float query[D / 4], sum[D / 4] = {}, m = -INFINITY, total = 0;
    for (int i = 0; i < D / 4; i += 2) {
        float2 x = make_float2(0, 0);
        if (row < length)
            x = two(q, (size_t)row * D + i / 4 * 16 + part * 4 + i % 4);
        query[i] = x.x / sqrtf(D);
        query[i + 1] = x.y / sqrtf(D);
    }

    //> tiles-loop
    for (int first = 0; first < length; first += KEYS) {
        //> tiles-free
        __syncthreads();  // all warps are done with the tiles before
        //< tiles-free
        stage_floats(ks, k, first, length);
        stage_floats(vs, v, first, length);
        __syncthreads();

        float p[KEYS], most = m;
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            p[j] = 0;
#pragma unroll
            for (int i = 0; i < D / 4; i += 4) {
                float4 four = *(float4 *)&ks[j][i * 4 + part * 4];
                p[j] += query[i] * four.x + query[i + 1] * four.y
                      + query[i + 2] * four.z + query[i + 3] * four.w;
            }
            p[j] = sum_of_four(p[j]);
            //> unseen
            if (first + j >= length || (causal && first + j > row))
                p[j] = -INFINITY;
            //< unseen
            most = fmaxf(most, p[j]);
        }

        //> correct
        float factor = __expf(m - most);
        m = most;
        total *= factor;
        for (int i = 0; i < D / 4; i++)
            sum[i] *= factor;
        //< correct
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            p[j] = __expf(p[j] - m);
            total += p[j];
#pragma unroll
            for (int i = 0; i < D / 4; i += 4) {
                float4 four = *(float4 *)&vs[j][i * 4 + part * 4];
                sum[i] += p[j] * four.x;
                sum[i + 1] += p[j] * four.y;
                sum[i + 2] += p[j] * four.z;
                sum[i + 3] += p[j] * four.w;
            }
        }
    }
    //< tiles-loop

    uint2 *to = (uint2 *)&out[(size_t)row * D + part * 4];
    for (int i = 0; i < D / 4 && row < length; i += 4)
        to[i] = make_uint2(pack(sum[i] / total, sum[i + 1] / total),
                           pack(sum[i + 2] / total, sum[i + 3] / total));
}
//< online
//< tiles

//> instructions
// ---- Instructions of Tensor Cores, as in lesson 17

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

// sum += a b, of 16 x 16 and 16 x 8 numbers.
__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                         unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
//< instructions

//> stage
// Rows of a block, and keys of a tile; a warp for each 16 rows.
//> threads
enum { TILE = 64, THREADS = TILE / 16 * 32 };
//< threads

// Copies TILE rows, from row `first` on, to a tile, 8 numbers at a time. Rows
// beyond the matrix become 0.
template <int D>
__device__ void stage(bf16 (&tile)[TILE][D + 8], const bf16 *from, int first,
                      int length)
{
    int d = threadIdx.x % (D / 8) * 8;
    for (int r = threadIdx.x / (D / 8); r < TILE; r += THREADS / (D / 8)) {
        uint4 eight = make_uint4(0, 0, 0, 0);
        //> inside
        if (first + r < length)
            eight = *(const uint4 *)&from[(size_t)(first + r) * D + d];
        //< inside
        *(uint4 *)&tile[r][d] = eight;
    }
}
//< stage

//> tensor TODO:
//> flash
// Versions 3 and 4: each warp has 16 queries. In registers, lane l has rows
// l / 4 and l / 4 + 8 of them, as the instructions have it: elements 0 and 1
// of four belong to the upper row, 2 and 3 to the lower.
typedef float Scores[TILE / 8][4];

// Scores that are not scaled yet.
template <int D>
__device__ void multiply_keys(Scores &s, const unsigned (&query)[D / 16][4],
                              //> keys-operand
                              bf16 (&ks)[TILE][D + 8])
                              //< keys-operand
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < TILE / 8; j++)
        for (int e = 0; e < 4; e++)
            s[j][e] = 0;
#pragma unroll
    for (int i = 0; i < D / 16; i++)
#pragma unroll
        for (int j = 0; j < TILE / 16; j++) {
            unsigned b[4];
            load_rows(b, shared(&ks[16 * j + lane / 16 * 8 + lane % 8]
                                   [16 * i + lane / 8 % 2 * 8]));
            multiply(s[2 * j], query[i], b[0], b[1]);
            multiply(s[2 * j + 1], query[i], b[2], b[3]);
        }
}

// Masks the keys that the lane's rows, `row` and the eighth after it, do not
// see. `first` is the first key of the tile.
__device__ void mask(Scores &s, int first, int row, int length, int causal)
{
#pragma unroll
    for (int j = 0; j < TILE / 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int key = first + 8 * j + threadIdx.x % 4 * 2 + e % 2;
            //> unseen-key
            if (key >= length || (causal && key > row + e / 2 * 8))
                s[j][e] = -INFINITY;
            //< unseen-key
        }
}

// Makes weights of scores, and corrects what belongs to a smaller maximum.
template <int D>
__device__ void weigh(Scores &s, float (&sum)[D / 8][4], float (&m)[2],
                      float (&total)[2])
{
    //> scale
    const float scale = 1 / sqrtf(D);
    //< scale
#pragma unroll
    for (int h = 0; h < 2; h++) {  // the upper row, the lower row
        float most = -INFINITY;
#pragma unroll
        for (int j = 0; j < TILE / 8; j++)
            most = fmaxf(most, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
        //> row-maximum
        most = fmaxf(m[h], largest_of_four(most) * scale);
        //< row-maximum
        //> factor
        float factor = __expf(m[h] - most);
        m[h] = most;
        total[h] *= factor;
        //< factor
        //> correct-values
#pragma unroll
        for (int i = 0; i < D / 8; i++) {
            sum[i][2 * h] *= factor;
            sum[i][2 * h + 1] *= factor;
        }
        //< correct-values
#pragma unroll
        for (int j = 0; j < TILE / 8; j++)
#pragma unroll
            for (int e = 2 * h; e < 2 * h + 2; e++)
                s[j][e] = __expf(s[j][e] * scale - most);
#pragma unroll
        for (int j = 0; j < TILE / 8; j++)
            total[h] += s[j][2 * h] + s[j][2 * h + 1];
    }
}

// Adds the values of a tile to the sums, multiplied by their weights.
template <int D>
__device__ void multiply_values(float (&sum)[D / 8][4], const Scores &s,
                                //> values-operand
                                bf16 (&vs)[TILE][D + 8])
                                //< values-operand
{
    int lane = threadIdx.x % 32;
    //> weights-tile
    //< weights-tile
#pragma unroll
    for (int j = 0; j < TILE / 16; j++) {
        //> operand
        unsigned p[4] = { pack(s[2 * j][0], s[2 * j][1]),
                          pack(s[2 * j][2], s[2 * j][3]),
                          pack(s[2 * j + 1][0], s[2 * j + 1][1]),
                          pack(s[2 * j + 1][2], s[2 * j + 1][3]) };
        //< operand
#pragma unroll
        for (int i = 0; i < D / 16; i++) {
            unsigned b[4];
            //> turned
            load_turned(b, shared(&vs[16 * j + lane % 16]
                                     [16 * i + lane / 16 * 8]));
            //< turned
            multiply(sum[2 * i], p, b[0], b[1]);
            multiply(sum[2 * i + 1], p, b[2], b[3]);
        }
    }
}

// Divides by the weights, and stores the rows that there are.
template <int D>
__device__ void leave(bf16 *out, const float (&sum)[D / 8][4],
                      const float (&total)[2], int row, int length)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        //> total
        float scale = 1 / sum_of_four(total[h]);
        //< total
        int r = row + 8 * h;
        bf16 *to = out + (size_t)r * D + threadIdx.x % 4 * 2;
        //> rows-there
        for (int i = 0; i < D / 8 && r < length; i++)
        //< rows-there
            *(unsigned *)&to[8 * i] =
                pack(sum[i][2 * h] * scale, sum[i][2 * h + 1] * scale);
    }
}

template <int D, bool SKIP>
__global__ void __launch_bounds__(THREADS)
    attention_tensor(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                     int length, int causal)
{
    //> tiles-of-both
    __shared__ __align__(16) bf16 ks[TILE][D + 8], vs[TILE][D + 8];
    //< tiles-of-both
    int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16;
    int row = blockIdx.x * TILE + top + lane / 4;
    size_t head = (size_t)blockIdx.y * length * D;
    //> heads
    q += head, k += head, v += head, out += head;
    //< heads

    unsigned query[D / 16][4];
    stage<D>(ks, q, blockIdx.x * TILE, length);
    __syncthreads();
    for (int i = 0; i < D / 16; i++)
        load_rows(query[i],
                  shared(&ks[top + lane % 16][16 * i + lane / 16 * 8]));

    float sum[D / 8][4] = {}, total[2] = {};
    //> first-maximum
    float m[2] = { -INFINITY, -INFINITY };
    //< first-maximum
    int last = blockIdx.x * TILE + TILE;  // after the block's queries
    //> last-key
    int keys = SKIP && causal ? min(length, last) : length;
    //< last-key
    //> each-tile
    for (int first = 0; first < keys; first += TILE) {
    //< each-tile
        //> free
        __syncthreads();  // all warps are done with what the tiles hold
        //< free
        stage<D>(ks, k, first, length);
        stage<D>(vs, v, first, length);
        __syncthreads();

        Scores s;
        multiply_keys<D>(s, query, ks);
        if (first + TILE > length || (causal && first + TILE > last - TILE))
            mask(s, first, row, length, causal);
        weigh<D>(s, sum, m, total);
        multiply_values<D>(sum, s, vs);
    }
    leave<D>(out, sum, total, row, length);
}
//< flash
//< tensor

//> copies TODO:
// ---- Version 5: the next tile is under way while this one is multiplied

//> copy
// Copies 16 bytes to shared memory without waiting for them. If `there` is
// false they become 0, and nothing is read.
__device__ void copy(unsigned to, const void *from, bool there)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 : : "r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
//< copy

//> arrived
// Waits for the copies of all threads, and for all warps to be done with the
// tile that is copied to next.
__device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" : : : "memory");
    __syncthreads();
}
//< arrived

// The byte at which a chunk of 8 numbers of a row begins. Eight rows have the
// same chunk in eight different groups of four banks.
template <int D>
__device__ unsigned place(int row, int chunk)
{
    return (row * (D / 8) + (chunk ^ (row & 7))) * 16;
}

//> fetch
// Begins to copy COUNT rows, from row `first` on.
template <int D, int COUNT>
__device__ void fetch(unsigned tile, const bf16 *from, int first, int length)
{
    enum { APART = THREADS / (D / 8) };  // rows from one of a thread's to its next
    int chunk = threadIdx.x % (D / 8), row = threadIdx.x / (D / 8);
    from += (size_t)(first + row) * D + chunk * 8;
    tile += place<D>(row, chunk);  // APART is a multiple of 8
#pragma unroll
    for (int i = 0; i < COUNT; i += APART)
        copy(tile + i * D * 2, from + i * D, first + row + i < length);
}
//< fetch
//< copies

//> exponential TODO:
// 2 to the power of x. What is too small for a normal float is 0.
__device__ float power_of_two(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
//< exponential

//> bands TODO:
// A warp has BANDS times 16 queries, and uses what it loads of a tile for all.
//> high
enum { BANDS = 2, HIGH = TILE * BANDS };  // HIGH: queries of a block
//< high

template <int D>
struct Rows {
    // Where there are registers for them, the queries stay in registers.
    enum { KEPT = BANDS * D <= 128 };
    unsigned query[KEPT ? D / 16 : 1][BANDS][4];
    float s[BANDS][TILE / 8][4];  // scores, then weights
    float sum[BANDS][D / 8][4], m[BANDS][2], total[BANDS][2];

    __device__ void load_queries(unsigned qs, int i)
    {
        int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16 * BANDS;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
            load_rows(query[KEPT ? i : 0][b],
                      qs + place<D>(top + 16 * b + lane % 16, 2 * i + lane / 16));
    }

    __device__ void multiply_keys(unsigned qs, unsigned ks)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
#pragma unroll
            for (int j = 0; j < TILE / 8; j++)
                for (int e = 0; e < 4; e++)
                    s[b][j][e] = 0;
#pragma unroll
        for (int i = 0; i < D / 16; i++) {
            if (!KEPT)
                load_queries(qs, i);
#pragma unroll
            for (int j = 0; j < TILE / 16; j++) {
                unsigned key[4];
                load_rows(key, ks + place<D>(16 * j + lane / 16 * 8 + lane % 8,
                                             2 * i + lane / 8 % 2));
#pragma unroll
                for (int b = 0; b < BANDS; b++) {
                    auto &a = query[KEPT ? i : 0][b];
                    multiply(s[b][2 * j], a, key[0], key[1]);
                    multiply(s[b][2 * j + 1], a, key[2], key[3]);
                }
            }
        }
    }

    // Masks keys from `length` on and, in causal heads, those after a query.
    // `row` is the first of this lane.
    __device__ void mask(int first, int row, int length, int causal)
    {
        int key = first + threadIdx.x % 4 * 2;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int end = length;  // of the keys that the query sees
                if (causal)
                    end = min(end, row + 16 * b + 8 * h + 1);
#pragma unroll
                for (int j = 0; j < TILE / 8; j++)
#pragma unroll
                    for (int e = 0; e < 2; e++)
                        if (key + 8 * j + e >= end)
                            s[b][j][2 * h + e] = -INFINITY;
            }
    }

    __device__ void correct_and_weigh()
    {
        // exp(x / sqrt(D)) is 2 to the power of x * scale.
        const float scale = 1.44269504f / sqrtf(D);
#pragma unroll
        for (int b = 0; b < BANDS; b++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float most = -INFINITY;
#pragma unroll
                for (int j = 0; j < TILE / 8; j++)
                    most = fmaxf(most, fmaxf(s[b][j][2 * h], s[b][j][2 * h + 1]));
                most = fmaxf(m[b][h], largest_of_four(most) * scale);
                float factor = power_of_two(m[b][h] - most);
                m[b][h] = most;
                total[b][h] *= factor;
#pragma unroll
                for (int i = 0; i < D / 8; i++) {
                    sum[b][i][2 * h] *= factor;
                    sum[b][i][2 * h + 1] *= factor;
                }
#pragma unroll
                for (int j = 0; j < TILE / 8; j++)
#pragma unroll
                    for (int e = 2 * h; e < 2 * h + 2; e++)
                        s[b][j][e] = power_of_two(s[b][j][e] * scale - most);
#pragma unroll
                for (int j = 0; j < TILE / 8; j++)
                    total[b][h] += s[b][j][2 * h] + s[b][j][2 * h + 1];
            }
    }

    __device__ void multiply_values(unsigned vs)
    {
        int lane = threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < TILE / 16; j++) {
            unsigned p[BANDS][4];
#pragma unroll
            for (int b = 0; b < BANDS; b++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    p[b][e] = pack(s[b][2 * j + e / 2][e % 2 * 2],
                                   s[b][2 * j + e / 2][e % 2 * 2 + 1]);
#pragma unroll
            for (int i = 0; i < D / 16; i++) {
                unsigned value[4];
                load_turned(value, vs + place<D>(16 * j + lane % 16,
                                                 2 * i + lane / 16));
#pragma unroll
                for (int b = 0; b < BANDS; b++) {
                    multiply(sum[b][2 * i], p[b], value[0], value[1]);
                    multiply(sum[b][2 * i + 1], p[b], value[2], value[3]);
                }
            }
        }
    }

    // By way of the warp's rows of the queries' tile, so that 16 bytes are
    // stored at once.
    __device__ void leave(bf16 *out, char *tile, int begin, int length)
    {
        int lane = threadIdx.x % 32, top = threadIdx.x / 32 * 16 * BANDS;
#pragma unroll
        for (int b = 0; b < BANDS; b++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float scale = 1 / sum_of_four(total[b][h]);
                int row = top + 16 * b + 8 * h + lane / 4;
#pragma unroll
                for (int i = 0; i < D / 8; i++)
                    *(unsigned *)&tile[place<D>(row, i) + lane % 4 * 4] =
                        pack(sum[b][i][2 * h] * scale,
                             sum[b][i][2 * h + 1] * scale);
            }
        __syncwarp();
#pragma unroll
        for (int i = lane; i < 16 * BANDS * D / 8; i += 32) {
            int row = top + i / (D / 8), chunk = i % (D / 8);
            if (begin + row < length)
                *(uint4 *)&out[(size_t)(begin + row) * D + chunk * 8] =
                    *(uint4 *)&tile[place<D>(row, chunk)];
        }
    }
};
//< bands

//> pipeline TODO:
// Version 5. V's tile arrives while K's is multiplied, and the next of K while
// V's is. The longest blocks of causal heads begin first.
template <int D>
__global__ void __launch_bounds__(THREADS)
    attention_pipeline(bf16 *out, const bf16 *q, const bf16 *k,
                       const bf16 *v, int length, int causal)
{
    extern __shared__ __align__(128) char tiles[];
    unsigned qs = shared(tiles), ks = qs + HIGH * D * 2;
    unsigned vs = ks + TILE * D * 2;
    int begin = (gridDim.y - 1 - blockIdx.y) * HIGH;
    int top = begin + threadIdx.x / 32 * 16 * BANDS;  // this warp's first
    size_t head = (size_t)blockIdx.x * length * D;
    q += head, k += head, v += head, out += head;

    fetch<D, HIGH>(qs, q, begin, length);
    fetch<D, TILE>(ks, k, 0, length);
    Rows<D> rows = {};
    for (int b = 0; b < BANDS; b++)
        rows.m[b][0] = rows.m[b][1] = -INFINITY;
    wait_for_copies();
    for (int i = 0; i < D / 16 && Rows<D>::KEPT; i++)
        rows.load_queries(qs, i);

    int keys = causal ? min(length, begin + HIGH) : length;
    for (int first = 0; first < keys; first += TILE) {
        bool sees = !causal || first < top + 16 * BANDS;
        //> keys-there
        wait_for_copies();  // of K's tile
        //< keys-there
        fetch<D, TILE>(vs, v, first, length);
        if (sees) {
            rows.multiply_keys(qs, ks);
            if (first + TILE > length || (causal && first + TILE > top))
                rows.mask(first, top + threadIdx.x % 32 / 4, length, causal);
            rows.correct_and_weigh();
        }
        wait_for_copies();  // of V's tile
        if (first + TILE < keys)
            fetch<D, TILE>(ks, k, first + TILE, length);
        if (sees)
            rows.multiply_values(vs);
    }
    rows.leave(out, tiles, begin, length);
}
//< pipeline

//> version TODO:
#ifndef VERSION
#define VERSION 5  // the kernel that `attention` launches
#endif
//< version

//> launch
template <int D>
void attention_of(bf16 *out, const bf16 *q, const bf16 *k, const bf16 *v,
                  int heads, int length, int causal)
{
    //> choice TODO:
    //| attention_in_memory<D>(out, q, k, v, heads, length, causal);
    if constexpr (VERSION == 1)
        attention_in_memory<D>(out, q, k, v, heads, length, causal);
    if constexpr (VERSION == 2)
        attention_tiles<D><<<dim3((length + ROWS - 1) / ROWS, heads),
                             ROWS * 4>>>(out, q, k, v, length, causal);
    if constexpr (VERSION == 3 || VERSION == 4)
        attention_tensor<D, VERSION == 4>
            <<<dim3((length + TILE - 1) / TILE, heads), THREADS>>>(
                out, q, k, v, length, causal);
    if constexpr (VERSION == 5) {
        auto kernel = attention_pipeline<D>;
        int bytes = (HIGH + 2 * TILE) * D * 2;
        CHECK(cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernel<<<dim3(heads, (length + HIGH - 1) / HIGH), THREADS, bytes>>>(
            out, q, k, v, length, causal);
    }
    //< choice
    CHECK(cudaGetLastError());
}

extern "C" void attention(bf16 *out, const bf16 *q, const bf16 *k,
                          const bf16 *v, int heads, int length, int width,
                          int causal)
{
    //> empty
    if (heads == 0 || length == 0)
        return;  // a grid of no blocks is an error
    //< empty
    if (width == 64)
        attention_of<64>(out, q, k, v, heads, length, causal);
    else
        attention_of<128>(out, q, k, v, heads, length, causal);
}
//< launch
