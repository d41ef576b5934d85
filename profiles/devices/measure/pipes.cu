// Arithmetic, shuffles, shared memory and barriers of one multiprocessor, in its clocks.
#include "measure.h"

enum { CHAINS = 4, STEPS = 256 };

// An instruction that ptxas can neither fold nor merge with the next one, if a chain of them takes turns in that many
// registers.
#define INSTRUCTION(NAME, TYPE, CODE, REG, REGISTERS)                                                                \
    struct NAME {                                                                                            \
        typedef TYPE Type;                                                                                   \
        enum { CHAIN = REGISTERS };                                                                          \
        static __device__ void step(TYPE &x, TYPE y, TYPE z)                                                 \
        {                                                                                                    \
            asm volatile(CODE : "+" REG(x) : REG(y), REG(z));                                                \
        }                                                                                                    \
    };
INSTRUCTION(Fma, float, "fma.rn.f32 %0, %0, %1, 0f3F800000;", "f", 2)
INSTRUCTION(Add, float, "add.rn.f32 %0, %0, %1;", "f", 2)
INSTRUCTION(Double, double, "fma.rn.f64 %0, %0, %1, %2;", "d", 2)
INSTRUCTION(Half2, unsigned, "fma.rn.f16x2 %0, %0, %1, %2;", "r", 2)
INSTRUCTION(Multiply, unsigned, "mad.lo.u32 %0, %0, %1, %2;", "r", 2)
INSTRUCTION(Integer, unsigned, "add.u32 %0, %0, %1;", "r", 2)
INSTRUCTION(Logic, unsigned, "lop3.b32 %0, %0, %1, %2, 0xe8;", "r", 2)
INSTRUCTION(Shift, unsigned, "shf.l.wrap.b32 %0, %0, %1, 5;", "r", 2)
INSTRUCTION(Special, float, "ex2.approx.ftz.f32 %0, %0;", "f", 1)
INSTRUCTION(Convert, unsigned, "{ .reg .f32 t; cvt.rn.f32.u32 t, %0; mov.b32 %0, t; }", "r", 1)
INSTRUCTION(Count, unsigned, "popc.b32 %0, %0;", "r", 1)
INSTRUCTION(Shuffle, unsigned, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;", "r", 1)
INSTRUCTION(Vote, unsigned, "{ .reg .pred p; setp.ne.u32 p, %0, 5; vote.sync.ballot.b32 %0, p, -1; }", "r", 1)

// CHAINS independent chains in each thread of one block.
template <typename I>
__global__ void run(typename I::Type start, long long *clocks, typename I::Type *out)
{
    typedef typename I::Type T;
    T v[CHAINS], w = start, x = start + (T)1;
    for (int c = 0; c < CHAINS; c++)
        v[c] = start + (T)threadIdx.x + (T)c;
    __syncthreads();
    long long from = clock64();
#pragma unroll 1
    for (int s = 0; s < STEPS / 16; s++)
#pragma unroll
        for (int u = 0; u < 16; u++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++)
                I::step(v[c], c ? v[c - 1] : w, x);
    __syncthreads();
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
    T sum = v[0];
    for (int c = 1; c < CHAINS; c++)
        sum += v[c];
    out[threadIdx.x] = sum;
}

// One chain in one warp.
template <typename I>
__global__ void run_chain(typename I::Type start, long long *clocks, typename I::Type *out)
{
    typename I::Type v = start + (typename I::Type)threadIdx.x, w = v + start, x = start;
    long long from = clock64();
#pragma unroll 1
    for (int s = 0; s < STEPS / 16; s++)
#pragma unroll
        for (int u = 0; u < 8; u++) {
            I::step(v, w, x);
            I::step(I::CHAIN == 1 ? v : w, v, x);
        }
    *clocks = clock64() - from;
    out[threadIdx.x] = v + w;
}

template <typename Kernel, typename T>
static double clocks_of(Kernel kernel, int threads, T start)
{
    long long *clocks = allocate<long long>(sizeof *clocks), taken;
    T *out = allocate<T>(THREADS * sizeof *out);
    std::vector<double> times;
    for (int i = 0; i <= ROUNDS; i++) {
        kernel<<<1, threads>>>(start, clocks, out);
        OK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
        if (i)
            times.push_back(taken);
    }
    OK(cudaFree(clocks));
    OK(cudaFree(out));
    return median(times);
}

template <typename I>
static void pipe(const char *name, const char *what)
{
    typedef typename I::Type T;
    char field[64], how[128];
    double rate = (double)CHAINS * STEPS * THREADS / clocks_of(run<I>, THREADS, (T)1);
    snprintf(field, sizeof field, "%s_lanes_per_clock", name);
    snprintf(how, sizeof how, "%s: four chains in each of 1024 threads", what);
    figure(field, rate, how);
    snprintf(field, sizeof field, "%s_latency_clocks", name);
    figure(field, clocks_of(run_chain<I>, LANES, (T)1) / STEPS, "one chain in one warp");
}

// ---- Shared memory and barriers

// Loads (or stores, or atomics) of shared memory, `spread` words from lane to lane.
enum shared { LOAD, LOAD_16, STORE, ATOMIC_ADD };
template <shared WHAT>
__global__ void use_shared(unsigned spread, long long *clocks, unsigned *out)
{
    __shared__ __align__(16) unsigned own[8192];
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        own[i] = i;
    __syncthreads();
    unsigned sum = 0, at = threadIdx.x % LANES * spread + threadIdx.x / LANES * 4;
    long long from = clock64();
#pragma unroll 8
    for (int s = 0; s < STEPS; s++) {
        unsigned *word = &own[(at + s * 32) % 8192];
        if (WHAT == LOAD)
            sum += *(volatile unsigned *)word;
        else if (WHAT == LOAD_16) {
            unsigned a, b, c, d, address = __cvta_generic_to_shared(&own[(4 * at + s * 128) % 8192]);
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(address));
            sum += a + b + c + d;
        } else if (WHAT == STORE)
            *(volatile unsigned *)word = s;
        else
            atomicAdd(word, s | 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
    out[threadIdx.x] = sum + own[threadIdx.x];
}

__global__ void chase_shared(unsigned steps, long long *clocks, unsigned *out)
{
    __shared__ unsigned next[1024];
    for (int i = 0; i < 1024; i++)
        next[i] = (i + 32) % 1024;
    unsigned at = 0;
    long long from = clock64();
#pragma unroll 1
    for (unsigned i = 0; i < steps; i++)
        at = next[at];
    *clocks = clock64() - from;
    *out = at;
}

// What is loaded is the next address: nothing else has to be computed.
__global__ void follow_shared(unsigned steps, long long *clocks, unsigned *out)
{
    __shared__ unsigned next[1024];
    unsigned at = __cvta_generic_to_shared(next);
    for (int i = 0; i < 1024; i++)
        next[i] = at + (i + 32) % 1024 * sizeof *next;
    long long from = clock64();
#pragma unroll 64
    for (unsigned i = 0; i < steps; i++)
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    *clocks = clock64() - from;
    *out = at;
}

__global__ void meet(unsigned rounds, long long *clocks, unsigned *out)
{
    __syncthreads();
    long long from = clock64();
#pragma unroll 8
    for (unsigned i = 0; i < rounds; i++)
        __syncthreads();
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
    *out = 0;
}

// ---- Constants

enum { CONSTANTS = 256 }; // they stay in the constant cache of a multiprocessor
__constant__ unsigned constants[CONSTANTS];

// Lanes follow indices, each its own or all the same.
template <bool SAME> __global__ void chase_constants(unsigned steps, long long *clocks, unsigned *out)
{
    unsigned at = SAME ? 0 : threadIdx.x % LANES;
    long long from = clock64();
#pragma unroll 8
    for (unsigned i = 0; i < steps; i++)
        at = constants[at];
    *clocks = clock64() - from;
    out[threadIdx.x] = at;
}

// Each lane of each warp reads another word.
__global__ void read_constants(unsigned rounds, long long *clocks, unsigned *out)
{
    unsigned sum = 0, at = threadIdx.x % LANES;
    __syncthreads();
    long long from = clock64();
#pragma unroll 1
    for (unsigned r = 0; r < rounds; r++)
#pragma unroll
        for (unsigned n = 0; n < 8; n++)
            sum += constants[(at + r) % LANES + n * LANES];
    __syncthreads();
    if (threadIdx.x == 0)
        *clocks = clock64() - from;
    out[threadIdx.x] = sum;
}

static void measure_constants()
{
    enum { STEPS = 1024, EACH = 8, ROUNDS_OF_EACH = 64 };
    unsigned host[CONSTANTS];
    for (unsigned i = 0; i < CONSTANTS; i++)
        host[i] = (i + LANES) % CONSTANTS;
    OK(cudaMemcpyToSymbol(constants, host, sizeof host));
    double same = clocks_of(chase_constants<true>, LANES, (unsigned)STEPS) / STEPS,
           different = clocks_of(chase_constants<false>, LANES, (unsigned)STEPS) / STEPS,
           all = clocks_of(read_constants, THREADS, (unsigned)ROUNDS_OF_EACH) / (EACH * ROUNDS_OF_EACH) / THREADS;
    heading("Constant memory");
    figure("constant_latency_clocks", same, "a warp follows indices, all lanes the same");
    figure("constant_word_latency_clocks", (different - same) / (LANES - 1), "each lane its own: for each further word");
    figure("constant_clocks_per_word", all, "each lane of 32 warps reads another word");
}

template <shared WHAT>
static double shared_clocks(unsigned spread)
{
    return clocks_of(use_shared<WHAT>, THREADS, spread) / (STEPS * (THREADS / LANES));
}

void measure_pipes()
{
    heading("The pipes of a multiprocessor");
    pipe<Fma>("fma", "fma.rn.f32");
    pipe<Add>("fadd", "add.rn.f32");
    pipe<Multiply>("imad", "mad.lo.u32");
    pipe<Integer>("iadd", "add.u32");
    pipe<Logic>("alu", "lop3.b32");
    pipe<Shift>("shift", "shf.l.wrap.b32");
    pipe<Half2>("half2", "fma.rn.f16x2, two numbers a lane");
    pipe<Double>("fp64", "fma.rn.f64");
    pipe<Special>("xu", "ex2.approx.ftz.f32");
    pipe<Convert>("convert", "cvt.rn.f32.u32");
    pipe<Count>("popc", "popc.b32");
    pipe<Shuffle>("shuffle", "shfl.sync.bfly.b32");
    pipe<Vote>("vote", "vote.sync.ballot.b32 and setp.ne.u32");

    heading("Shared memory and barriers");
    enum { MANY = 1024 };
    figure("shared_latency_clocks", clocks_of(chase_shared, 1, (unsigned)MANY) / MANY, "one lane follows pointers");
    figure("shared_load_clocks", clocks_of(follow_shared, 1, (unsigned)MANY) / MANY, "one lane follows addresses");
    figure("shared_clocks_per_request", shared_clocks<LOAD>(1), "loads of 4 bytes a lane, no conflict");
    figure("shared_clocks_per_wide_request", shared_clocks<LOAD_16>(1), "loads of 16 bytes a lane, no conflict");
    figure("shared_clocks_per_2_way_request", shared_clocks<LOAD>(2), "loads of 4 bytes a lane, 2 words to a bank");
    figure("shared_clocks_per_32_way_request", shared_clocks<LOAD>(32), "loads of 4 bytes a lane, 32 words to a bank");
    figure("shared_clocks_per_store", shared_clocks<STORE>(1), "stores of 4 bytes a lane, no conflict");
    figure("shared_clocks_per_atomic", shared_clocks<ATOMIC_ADD>(1), "atomicAdd, a word for each lane");
    figure("shared_clocks_per_32_way_atomic", shared_clocks<ATOMIC_ADD>(0), "atomicAdd, one word for all lanes");
    enum { FEW = 256 / LANES, ALL = THREADS / LANES };
    double few = clocks_of(meet, 256, (unsigned)MANY) / MANY, all = clocks_of(meet, THREADS, (unsigned)MANY) / MANY;
    figure("barrier_clocks_per_warp", (all - few) / (ALL - FEW), "__syncthreads() of 1024 threads and of 256: the difference");
    figure("barrier_latency_clocks", few - FEW * (all - few) / (ALL - FEW), "and what is left of the one of 256 threads");
    measure_constants();
}
