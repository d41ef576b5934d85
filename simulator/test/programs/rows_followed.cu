// expect: race 33, race 43, race 55, race 63, race 71, race 77, race 86, race 92, race 92, race 107, race 114, race 124, race 132, race 150, race 144, race 154
// counts: neighbour l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 16
// counts: without_one l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 13
// says: thread (0,0,0) of block (2,0,0) reads what thread (96,0,0) of block (1,0,0) writes, at byte 768
// says: thread (0,0,0) of block (2,0,0) reads what thread (69,0,0) of block (1,0,0) writes, at byte 800
// says: thread (0,0,0) of block (2,0,0) reads what thread (71,0,0) of block (1,0,0) writes, at byte 284
// says: thread (0,0,0) of block (2,0,0) reads what thread (64,0,0) of block (1,0,0) writes, at byte 128
// says: thread (0,0,0) of block (2,0,0) reads what thread (64,0,0) of block (1,0,0) writes, at byte 256
// says: thread (96,0,0) also writes what thread (64,0,0) writes, at byte 256
// says: thread (0,0,0) of block (2,0,0) reads what thread (96,0,0) of block (1,0,0) writes, at byte 4992
// says: thread (69,0,0) of block (2,0,0) also writes what thread (69,0,0) of block (1,0,0) writes, at byte 276
// says: thread (69,0,0) of block (2,0,0) also writes what thread (69,0,0) of block (1,0,0) writes, at byte 552
// says: thread (0,0,0) of block (2,0,0) reads what thread (96,0,0) of block (1,0,0) writes, at byte 448
// says: thread (96,0,0) of block (1,0,0) reads what thread (0,0,0) of block (2,0,0) writes, at byte 12
// says: thread (0,0,0) of block (2,0,0) reads what thread (96,0,0) of block (1,0,0) writes, at byte 192
// says: thread (0,0,0) of block (2,0,0) reads what thread (32,0,0) of block (1,0,0) writes, at byte 256
// says: thread (32,0,0) of block (3,0,0) reads what thread (0,0,0) of block (6,0,0) writes, at byte 8192
// says: thread (0,0,0) of block (6,0,0) reads what thread (64,0,0) of block (4,0,0) writes, at byte 256
// says: thread (32,0,0) of block (5,0,0) reads what thread (0,0,0) of block (6,0,0) writes, at byte 40960
// Warps that do nearly what the warp before them did, a row further on. Block 1 has four; block 2 touches what one of them did,
// and first what none of them did. (Blocks 0 and 3, the first and the last, are traced: there nobody follows.)
#include "check.h"

enum { WARPS = 4, THREADS = 32 * WARPS, ACCESSES = 10, COUNT = ACCESSES * THREADS };
#define w (t / 32)

__global__ void strides(int *x, int *out)               // every other row
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) x[64 * w + t % 32] = 1 + t;
    else if (blockIdx.x == 2 && t < 32) {
        out[t] = x[32 + t] + x[96 + t] + x[160 + t];
        out[t] += x[192 + t];                                   // 33
    }
}

__global__ void lane(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) x[t == 69 ? 200 : t] = 1 + t;
    else if (blockIdx.x == 2 && t == 0) {
        out[t] = x[69];
        out[t] += x[200];                                       // 43
    }
}

__global__ void predicate(int *x, int *out)
{
    int t = threadIdx.x;
    int *to = x + t, v = 1 + t;
    asm volatile("" : "+l"(to), "+r"(v));               // known in all lanes
    if (blockIdx.x == 1 && t != 70) *to = v;
    if (blockIdx.x == 2 && t == 0) {
        out[t] = x[70];
        out[t] += x[71];                                        // 55
    }
}

__global__ void without_one(int *x, int *out)           // the next does its row
{
    int t = threadIdx.x;
    if (blockIdx.x == 1 && w != 1) x[t - (w > 1) * 32] = 1 + t;
    if (blockIdx.x == 2 && t == 0) out[t] = x[32];              // 63
}

__global__ void instruction(int *x, int *out)           // one writes what the others read
{
    int t = threadIdx.x;
    if (blockIdx.x == 1 && w == 2) x[t] = 1 + t;
    else if (blockIdx.x == 1) out[t] = x[t];
    else if (blockIdx.x == 2 && t == 0) out[64] = x[64];        // 71
}

__global__ void neighbour(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) x[w == 3 ? t - 32 : t] = 1 + t;        // 77
}

// More than are followed.
__global__ void many(int *x, int *out)
{
    int t = threadIdx.x;
#pragma unroll
    for (int n = 0; n < ACCESSES && blockIdx.x == 1; n++) x[n * THREADS + t] = 1 + t;
    if (blockIdx.x == 2 && t == 0) out[t] = x[COUNT - 32];      // 86
}

template <class T> __global__ void alike(T *x, int different)
{
    int t = threadIdx.x;
    if (blockIdx.x % 3) x[t] = blockIdx.x == 2 && t == different ? 6 : 5;       // 92
}

__global__ void strong(volatile int *x)
{
    int t = threadIdx.x;
    if (blockIdx.x % 3) x[t] = 1 + t + blockIdx.x;
}

// Two warps share a line.
__global__ void astride(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) x[16 + t] = 1 + t;
    if (blockIdx.x == 2 && t == 0) out[t] = x[15] + x[16 + THREADS];
    if (blockIdx.x == 2 && t == 0) out[t] = x[16 + 96];         // 107
}

// One value for all lanes.
__global__ void broadcast(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 1) out[t] = x[w];                         // 114
    if (blockIdx.x == 2 && t == 0) x[3] = x[4] = 1;
}

__global__ void halves(int *x, int *out)                // of warps
{
    int t = threadIdx.x;
    int *to = x + 16 * w + t % 32, v = 1 + t;
    asm volatile("" : "+l"(to), "+r"(v));
    if (blockIdx.x == 1 && t % 32 < 16) *to = v;
    if (blockIdx.x == 2 && t == 0) out[t] = x[16 * 3];          // 124
}

__global__ void twice(int *x, int *out)                 // the second warp does two rows
{
    int t = threadIdx.x;
#pragma unroll 1
    for (int n = 0; n <= w && blockIdx.x == 1 && w < 2; n++) x[32 * n + t] = 1 + t;
    if (blockIdx.x == 2 && t == 0) out[t] = x[64];              // 132
}

// Two blocks have read all of two chunks, so that nobody need look at who else reads there. The others read there and elsewhere.
__global__ void quiet(int *x, int *out)
{
    enum { QUIET = 8192 / sizeof(int) };
    int t = threadIdx.x, v = 0;
    if (blockIdx.x == 0) return;
    if (blockIdx.x < 3) for (int n = 0; n < QUIET; n += THREADS) v += x[n + t] + x[4 * QUIET + n + t];
    if (blockIdx.x == 3) {
#pragma unroll 1
        for (int n = 0; n < 2; n++) v += x[(n ? 2 * QUIET : QUIET - 32) + t];       // 144
    }
    if (blockIdx.x == 4) {
        out[t] = t;
        v = x[t];
    }
    if (blockIdx.x == 5) v = x[5 * QUIET - 32 + t];             // 150
    asm volatile("" :: "r"(v));
    if (blockIdx.x == 6 && t == 0) {
        x[QUIET] = x[5 * QUIET] = 1;
        out[t] = out[64];                                       // 154
    }
}

int main()
{
    int *x, *out, host[COUNT];
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
#define RUN(kernel, ...) OK(cudaMemset(x, 0, sizeof host)); OK(cudaMemset(out, 0, sizeof host)); kernel<<<4, THREADS>>>(__VA_ARGS__); \
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost))
    RUN(strides, x, out);
    for (int i = 0; i < 8 * 32; i++) CHECK(host[i] == (i / 32 % 2 ? 0 : 1 + i / 64 * 32 + i % 32));
    RUN(lane, x, out);
    CHECK(host[69] == 0 && host[200] == 70);
    RUN(predicate, x, out);
    CHECK(host[70] == 0 && host[71] == 72);
    RUN(without_one, x, out);
    CHECK(host[32] == 65);
    RUN(instruction, x, out);
    RUN(neighbour, x, out);
    RUN(many, x, out);
    RUN(alike, x, -1);
    RUN(alike, x, 69);
    RUN(alike, (double *)x, -1);
    RUN(alike, (double *)x, 69);
    RUN(strong, x);
    RUN(astride, x, out);
    RUN(broadcast, x, out);
    RUN(halves, x, out);
    RUN(twice, x, out);
    OK(cudaFree(x));
    OK(cudaMalloc(&x, 7 * 8192));
    OK(cudaMemset(x, 0, 7 * 8192));
    quiet<<<8, THREADS>>>((int *)(((size_t)x + 8191) / 8192 * 8192), out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
