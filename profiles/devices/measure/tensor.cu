// Tensor Cores: mma.sync, of which a multiprocessor's four schedulers have one unit each.
#include "measure.h"

enum { STEPS = 512, CHAINS = 8, WARPS = 16, SCHEDULERS = 4 };

// d += a b of 16 x 8 elements in registers.
#define PRODUCT(NAME, CODE)                                                                                          \
    struct NAME {                                                                                                    \
        static __device__ void step(unsigned *d, const unsigned *a, const unsigned *b)                               \
        {                                                                                                            \
            asm volatile(CODE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                     \
                         : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                            \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                        \
        }                                                                                                            \
    };
PRODUCT(Half, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
PRODUCT(Tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
PRODUCT(Int8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")

struct Short {
    static __device__ void step(unsigned *d, const unsigned *a, const unsigned *b)
    {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    }
};

template <typename P, int COUNT>
__global__ void multiply(unsigned start, long long *clocks, unsigned *out)
{
    unsigned d[COUNT][4] = {}, a[4] = { start, start, start, start }, b[2] = { start, start }, sum = 0;
    __syncthreads();
    long long from = clock64();
#pragma unroll 1
    for (int s = 0; s < STEPS / 8; s++)
#pragma unroll
        for (int u = 0; u < 8; u++)
#pragma unroll
            for (int c = 0; c < COUNT; c++)
                P::step(d[c], a, b);
    __syncthreads();
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < 4; i++)
            sum += d[c][i];
    out[threadIdx.x] = sum;
}

// Zeros, which draw the least power: the clock stays what it is.
template <typename Kernel>
static double clocks_of(Kernel kernel, int threads)
{
    long long *clocks = allocate<long long>(sizeof *clocks), taken;
    unsigned *out = allocate<unsigned>(THREADS * sizeof *out);
    std::vector<double> times;
    for (int i = 0; i <= ROUNDS; i++) {
        kernel<<<1, threads>>>(0, clocks, out);
        OK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
        if (i)
            times.push_back(taken);
    }
    OK(cudaFree(clocks));
    OK(cudaFree(out));
    return median(times);
}

template <typename P>
static void products(const char *name, const char *what)
{
    char field[64], how[128];
    snprintf(field, sizeof field, "tensor%s_clocks", name);
    snprintf(how, sizeof how, "%s: eight chains in each of four warps", what);
    figure(field, clocks_of(multiply<P, CHAINS>, LANES * WARPS) / (STEPS * CHAINS * WARPS / SCHEDULERS), how);
    snprintf(field, sizeof field, "tensor%s_latency_clocks", name);
    figure(field, clocks_of(multiply<P, 1>, LANES) / STEPS, "one chain in one warp");
}

void measure_tensor()
{
    heading("Tensor Cores");
    products<Half>("", "mma.m16n8k16 of bf16");
    products<Short>("_short", "mma.m16n8k8 of bf16");
    products<Tf32>("_tf32", "mma.m16n8k8 of tf32");
    products<Int8>("_int8", "mma.m16n8k32 of s8");
}
