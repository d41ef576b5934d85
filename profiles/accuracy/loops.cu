// What loops of one kind of instruction take: eight rounds of one, two or four independent chains in each thread, by one, 4, 8, 16 and
// 32 warps of one multiprocessor.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 loops.cu -o loops && ./loops
//     nvcc -std=c++17 -O3 -arch=sm_90 -cudart shared loops.cu -o loops && simulator/run ./loops 64
//
// It prints a line for each kind and number of chains: the clocks that one turn of the loop takes for all its warps, which is the
// difference between launches of some turns (those of the second argument, or 4096) and of twice as many. loops.txt has what an H200
// takes. The latencies and clocks of native code are from there (simulator/ptx/native.def, simulator/model/issue.c): nvdisasm shows what
// ptxas made of a loop, and how long it waits by itself.
#include <cuda_fp16.h>
#include "kernels/exercise.h"

enum { ROUNDS = 8, WORDS = 4096 };

// What one step of a chain may use: its own value of each type, that of the next chain, numbers that the compiler does not know, and
// its place in the loop.
struct Chain {
    float &f, &f_next;
    unsigned &u, &u_next;
    __half2 &h;
    double &d;
    float a, b;
    unsigned k, l;
    __half2 half;
    double c;
    float *shared;
    const float *global; // 8 KB
    int place;           // of the step: other words for each
};

#define KIND(name, ...)                                                                                                            \
    struct name {                                                                                                                  \
        static constexpr const char *words = #name;                                                                                \
        static __device__ __forceinline__ void step(Chain c) { __VA_ARGS__; }                                                      \
    };
static __device__ __forceinline__ unsigned lop3(unsigned x, unsigned y, unsigned z)
{
    asm("lop3.b32 %0, %0, %1, %2, 0xe8;" : "+r"(x) : "r"(y), "r"(z));
    return x;
}

KIND(multiply_add, c.f = c.f *c.a + c.b)
KIND(multiply_add_of_three, c.f = c.f *c.f_next + c.f)
KIND(add, c.f += c.a)
KIND(logic, c.u = lop3(c.u, c.k, c.l))
KIND(shift, c.u = __funnelshift_l(c.u, c.k, 5))
KIND(permute, c.u = __byte_perm(c.u, c.k, 0x1234))
KIND(product, c.u = c.u *c.k + c.l)
KIND(high_product, c.u = __umulhi(c.u, c.k))
KIND(choice, c.u = c.u < c.k ? c.u_next : c.l)
KIND(exponential, asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(c.f)))
KIND(root_and_sum, c.f = rsqrtf(c.f) + c.a)
KIND(population, c.u = __popc(c.u))
KIND(to_integer, c.u = __float2int_rz(__uint_as_float(c.u)))
KIND(to_float, c.u = __float_as_uint((float)(int)c.u))
KIND(division, c.f = (c.f + c.b) / (c.b + 1.f))
KIND(double_fma, c.d = c.d *c.c + c.c)
KIND(half_sum, c.h = __hadd2(c.h, c.half))
KIND(half_fma, c.h = __hfma2(c.h, c.half, c.half))
KIND(multiply_add_and_logic, c.f = c.f *c.a + c.b; c.u = lop3(c.u, c.k, c.l))
KIND(multiply_add_and_product, c.f = c.f *c.a + c.b; c.u = c.u *c.k + c.l)
KIND(multiply_add_and_half, c.f = c.f *c.a + c.b; c.h = __hadd2(c.h, c.half))
KIND(shuffle, c.u = __shfl_xor_sync(~0u, c.u, 1))
KIND(barrier, __syncthreads(); c.f += c.a)
KIND(shared_follow, c.u = __float_as_uint(c.shared[c.u & 31]))
KIND(shared_load, c.f += c.shared[(threadIdx.x + c.place * 32) % WORDS])
KIND(shared_load_16, float4 v = ((float4 *)c.shared)[(threadIdx.x + c.place * 32) % (WORDS / 4)]; c.f += v.x + v.y + v.z + v.w)
KIND(shared_load_16_same, float4 v = ((float4 *)c.shared)[c.place % (WORDS / 4)]; c.f += v.x * v.y + v.z * v.w)
KIND(shared_store, c.shared[(threadIdx.x + c.place * 32) % WORDS] = c.f)
KIND(l1_follow, c.u = __float_as_uint(__ldg(c.global + (c.u & 31))))
KIND(l1_load, c.f += __ldg(c.global + (threadIdx.x + c.place * 32) % 2048))
KIND(l1_load_16_same, float4 v = __ldg((const float4 *)c.global + c.place % 512); c.f += v.x + v.y + v.z + v.w)

template <typename Kind, int CHAINS> __global__ void loop(float *out, const float *in, int turns)
{
    __shared__ __align__(16) float shared[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        shared[i] = 0;
    float f[CHAINS], a = in[0];
    unsigned u[CHAINS], k = __float_as_uint(in[2]);
    __half2 h[CHAINS], half = __floats2half2_rn(a, a);
    double d[CHAINS], c = a;
    for (int i = 0; i < CHAINS; i++)
        f[i] = threadIdx.x + i, u[i] = threadIdx.x * 3 + i, h[i] = __floats2half2_rn(f[i], a), d[i] = f[i];
    __syncthreads();
#pragma unroll 1
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int r = 0; r < ROUNDS; r++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                Kind::step({ f[i], f[(i + 1) % CHAINS], u[i], u[(i + 1) % CHAINS], h[i], d[i], a, in[1], k, __float_as_uint(in[3]), half,
                             c, shared, in + 64, t % 8 + r * CHAINS + i });
    float sum = shared[threadIdx.x];
    for (int i = 0; i < CHAINS; i++)
        sum += f[i] + u[i] + __low2float(h[i]) + (float)d[i];
    out[threadIdx.x] = sum;
}

static float *out, *in;
static int turns = 4096;

template <typename Kind, int CHAINS> static float milliseconds(int warps, int turns)
{
    cudaEvent_t from, to;
    float least = 1e30f, ms;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    for (int again = 0; again < 3; again++) {
        OK(cudaEventRecord(from));
        loop<Kind, CHAINS><<<1, 32 * warps>>>(out, in, turns);
        OK(cudaEventRecord(to));
        OK(cudaDeviceSynchronize());
        OK(cudaEventElapsedTime(&ms, from, to));
        least = std::min(least, ms);
    }
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return least;
}

template <typename Kind, int CHAINS> static void measure(double clocks_per_ms)
{
    printf("%-25s %d", Kind::words, CHAINS);
    for (int warps : { 1, 4, 8, 16, 32 }) {
        float once = milliseconds<Kind, CHAINS>(warps, turns), twice = milliseconds<Kind, CHAINS>(warps, 2 * turns);
        printf(" %7.1f", (twice - once) * clocks_per_ms / turns);
    }
    printf("\n");
    fflush(stdout);
}

template <typename... Kinds> static void measure_all()
{
    int khz;
    OK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    (..., (measure<Kinds, 1>(khz), measure<Kinds, 2>(khz), measure<Kinds, 4>(khz)));
}

int main(int count, char **arguments)
{
    if (count > 1)
        turns = atoi(arguments[1]);
    float host[4096] = { 0.5f, 1, 1e-30f, 3 };
    OK(cudaMalloc(&out, 1024 * sizeof *out));
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    measure_all<multiply_add, multiply_add_of_three, add, logic, shift, permute, product, high_product, choice, exponential, root_and_sum, population,
                to_integer, to_float, division, double_fma, half_sum, half_fma, multiply_add_and_logic, multiply_add_and_product, multiply_add_and_half, shuffle,
                barrier, shared_follow, shared_load, shared_load_16, shared_load_16_same, shared_store, l1_follow, l1_load,
                l1_load_16_same>();
    OK(cudaFree(out));
    OK(cudaFree(in));
    return 0;
}
