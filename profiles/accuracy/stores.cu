// Stores of parts of sectors on an H200 (shortfalls.md): which of them L1 makes one write of, and what L2 does with the rest:
//
//     nvcc -O3 -arch=sm_90 stores.cu -o stores
//     ncu --cache-control none --metrics lts__t_sectors_srcunit_tex_op_write.sum ./stores l1
//     ncu --cache-control all --metrics lts__t_sectors_op_write.sum,lts__t_sectors_srcunit_tex_op_write.sum,... ./stores l2
//     ncu --cache-control all --metrics dram__bytes_read.sum,dram__bytes_write.sum ./stores l2
//
// It prints what each launch is. stores.txt has what ncu counted (driver 580.159.04), of these kernels before they were put in order.
#include "kernels/exercise.h"
#include <cstring>

static const int MB = 1 << 20, SMS = 132, WORDS = 8, LINE_BYTES = 128;

static __device__ void put(unsigned *to, unsigned word) { asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory"); }

// ---- L1

struct Pairs {
    char *out;
    int rows, lanes, apart;     // that a warp stores; lanes that store; those that share a line, a sector each
    unsigned ring, step, gap;   // bytes of the ring of a warp's rows, less 1; of a row; from which the second word comes later
};

template <int PRODUCTS>
static __device__ float chain(float x)
{
    #pragma unroll
    for (int n = 0; n < PRODUCTS; n++)
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    return x;
}

// Each warp stores the first word of sectors, computes NEAR products, one after the other, stores FULL whole lines elsewhere and then the
// second word of those sectors, or of some of rows before.
template <int NEAR, int FULL>
__global__ void pairs(Pairs p)
{
    int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    char *ring = p.out + (size_t)warp * (p.ring + 1) + lane / p.apart * LINE_BYTES + lane % p.apart * 32;
    char *full = p.out + 128 * MB + warp * 64 * LINE_BYTES + lane * 4;
    unsigned first = 0, second = (0u - p.gap) & p.ring, at = 0;
    float x = lane + 1;
    #pragma unroll 4
    for (int i = 0; i < p.rows; i++) {
        if (lane < p.lanes)
            put((unsigned *)(ring + first), __float_as_uint(x));
        x = chain<NEAR>(x);
        #pragma unroll
        for (int f = 0; f < FULL; f++)
            put((unsigned *)(full + (at + f) % 64 * LINE_BYTES), i);
        at += FULL;
        if (lane < p.lanes)
            put((unsigned *)(ring + second) + 1, __float_as_uint(x));
        first = (first + p.step) & p.ring;
        second = (second + p.step) & p.ring;
    }
}

// So many words of a structure of 8, a lane each; `read`: each of them is loaded first.
template <int FIELDS>
__global__ void fields(unsigned *out, bool read)
{
    unsigned *mine = out + WORDS * (size_t)(blockIdx.x * blockDim.x + threadIdx.x), x[FIELDS];
    #pragma unroll
    for (int f = 0; f < FIELDS; f++)
        x[f] = read ? mine[f] + 1 : f;
    #pragma unroll
    for (int f = 0; f < FIELDS; f++)
        put(mine + f, x[f]);
}

// ---- L2

// A word of every `stride`; nothing for so many clocks; then, if it is to be read, the word behind each.
__global__ void strided(unsigned *out, unsigned n, unsigned stride, unsigned wait, bool read)
{
    unsigned all = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (unsigned i = first; i < n; i += all)
        put(out + (size_t)stride * i, 1);
    for (unsigned start = clock(); wait && clock() - start < wait;) {}
    __syncthreads();
    for (unsigned i = first; read && i < n; i += all)
        sum += __ldcg(out + (size_t)stride * i + 1);
    if (sum == 1)
        out[0] = sum;
}

// ---- Launches

static void launched()
{
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

template <int NEAR, int FULL>
static void run_pairs(char *out, int blocks, int warps, int lanes, int apart, int gap)
{
    int lines = (lanes + apart - 1) / apart, rows = 4;
    while (rows < 2 * gap + 4 || rows * lines * warps < 256)
        rows *= 2;
    int turns = std::min(2048, std::max(128, 16384 / (warps * lines)));
    unsigned step = lines * LINE_BYTES;
    printf("pairs blocks %d warps %d lines %d sectors %d gap %d products %d full %d: %d sectors\n", blocks, warps, lines, lanes / lines, gap, NEAR, FULL,
           blocks * warps * turns * lanes);
    pairs<NEAR, FULL><<<blocks, warps * 32>>>({ out, turns, lanes, apart, rows * step - 1, step, gap * step });
    launched();
}

static void run_strided(char *out, int stride, int mb, int blocks, int wait, bool read)
{
    unsigned n = (unsigned)mb * (MB / 4) / stride;
    printf("strided %d MB %d blocks %d wait %d read %d\n", stride, mb, blocks ? blocks : n / 1024, wait, read);
    strided<<<blocks ? blocks : n / 1024, 256>>>((unsigned *)out, n, stride, wait, read);
    launched();
}

static void look_at_l1(char *out)
{
    const struct { int lanes, apart; } shapes[] = { { 1, 1 }, { 8, 1 }, { 32, 1 }, { 32, 4 } };
    for (int blocks : { 1, SMS })
        for (int warps : { 1, 4, 16, 32 })
            for (auto s : shapes) {
                for (int gap : { 0, 1, 2, 4 })
                    run_pairs<0, 0>(out, blocks, warps, s.lanes, s.apart, gap);
                run_pairs<2, 0>(out, blocks, warps, s.lanes, s.apart, 0);
                run_pairs<20, 0>(out, blocks, warps, s.lanes, s.apart, 0);
                run_pairs<100, 0>(out, blocks, warps, s.lanes, s.apart, 0);
                if (s.lanes > 1)
                    continue;
                run_pairs<0, 1>(out, blocks, warps, s.lanes, s.apart, 0);
                run_pairs<0, 2>(out, blocks, warps, s.lanes, s.apart, 0);
                run_pairs<0, 4>(out, blocks, warps, s.lanes, s.apart, 0);
                run_pairs<0, 8>(out, blocks, warps, s.lanes, s.apart, 0);
            }
    for (int blocks : { SMS, 8 * SMS, 2048 })
        for (bool read : { false, true }) {
            printf("fields blocks %d read %d: 2, 4, 8\n", blocks, read);
            fields<2><<<blocks, 256>>>((unsigned *)out, read);
            fields<4><<<blocks, 256>>>((unsigned *)out, read);
            fields<8><<<blocks, 256>>>((unsigned *)out, read);
            launched();
        }
}

static void look_at_l2(char *out)
{
    for (int stride : { 8, 16, 32, 64 })
        for (int mb : { 4, 8, 16, 24, 32, 48, 64, 96 })
            run_strided(out, stride, mb, 0, 0, false);
    for (int stride : { 8, 32 })
        for (int mb : { 8, 16, 32 })
            for (int wait : { 1000, 4000, 16000, 64000 })
                run_strided(out, stride, mb, 8 * SMS, wait, false);
    for (int stride : { 8, 16, 32 })
        for (int mb : { 4, 8, 16, 24, 32, 48 })
            for (bool read : { false, true })
                run_strided(out, stride, mb, 8 * SMS, 0, read);
}

int main(int count, char **arguments)
{
    char *out;
    OK(cudaMalloc(&out, 512 * MB));
    OK(cudaMemset(out, 0, 512 * MB));
    if (count > 1 && !strcmp(arguments[1], "l2"))
        look_at_l2(out);
    else
        look_at_l1(out);
    OK(cudaFree(out));
    return 0;
}
