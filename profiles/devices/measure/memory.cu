// DRAM and the caches: rates with all multiprocessors at work, latencies with one lane.
#include <cmath>

#include "measure.h"

enum { BLOCK = 256 };

// ---- Rates

__global__ void read_all(const uint4 *in, size_t n, unsigned *out)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    unsigned sum = 0;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        uint4 v = __ldcs(in + i);
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 1)
        *out = sum;
}

__global__ void write_all(uint4 *to, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = make_uint4(1, 2, 3, 4);
}

__global__ void copy_all(uint4 *to, const uint4 *from, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

// One word of each `stride` words.
__global__ void read_some(const unsigned *in, size_t n, size_t stride, unsigned *out)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i * stride] == 1)
        *out = 1;
}

static __device__ unsigned mix(unsigned a)
{
    a = (a ^ a >> 16) * 0x7feb352d;
    return (a ^ a >> 15) * 0x846ca68b;
}

// A word of another sector in each lane, at random; n is a power of 2.
__global__ void read_random(const unsigned *in, size_t n, unsigned *out)
{
    unsigned sum = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 8
    for (int r = 0; r < 8; r++)
        sum += __ldcg(in + (mix(i * 8 + r) & (n - 1)));
    if (sum == 1)
        *out = sum;
}

// All blocks read the same n vectors, from the L2 cache; those of a multiprocessor are not at the same place.
__global__ void read_l2(const uint4 *in, unsigned n, int rounds, unsigned *out)
{
    unsigned sum = 0, at = (blockIdx.x * 7919u * BLOCK + threadIdx.x) % n;
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
        uint4 v = __ldcg(in + at);
        sum += v.x ^ v.y ^ v.z ^ v.w;
        at += BLOCK * 13;
        at = at < n ? at : at - n;
    }
    if (sum == 1)
        *out = sum;
}

__global__ void write_l2(uint4 *to, unsigned n, int rounds)
{
    unsigned at = (blockIdx.x * 7919u * BLOCK + threadIdx.x) % n;
#pragma unroll 8
    for (int r = 0; r < rounds; r++) {
        to[at] = make_uint4(r, 2, 3, 4);
        at += BLOCK * 13;
        at = at < n ? at : at - n;
    }
}

// Clocks that one block a multiprocessor needs for `rounds` times eight loads of T a thread, `spread` elements from lane to
// lane, within 16 KB that are in the L1 cache. `still` is 0, which the compiler does not know.
template <typename T>
__global__ void read_l1(const T *in, int spread, int rounds, int still, long long *clocks, unsigned *out)
{
    enum { N = 16384 / sizeof(T) };
    unsigned sum = 0;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        sum += __ldca((const unsigned *)(in + i));
    const T *from = in + threadIdx.x * spread % (N / 2);
    __syncthreads();
    long long start = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++, from += still) {
#pragma unroll
        for (int n = 0; n < 8; n++) {
            const T *at = from + n * (N / 16);
            if (sizeof(T) == 16) {
                unsigned a, b, c, d;
                asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
                sum += a;
            } else {
                unsigned a;
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(at));
                sum += a;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *clocks = clock64() - start;
    if (sum == 1)
        *out = sum;
}

// Writes a word of another sector in each lane, at random.
__global__ void write_random(unsigned *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 8
    for (int r = 0; r < 8; r++)
        to[mix(i * 8 + r) & (n - 1)] = i;
}

// ---- Latencies

// A circle through the lines of `bytes`, in random order, or one after another: all 32 words of a line say the next line.
static std::vector<unsigned> circle(size_t bytes, size_t line, bool shuffled)
{
    size_t count = bytes / line, words = line / sizeof(unsigned);
    std::vector<unsigned> order(count), next(bytes / sizeof(unsigned));
    for (size_t i = 0; i < count; i++)
        order[i] = i * words;
    unsigned state = 12345;
    for (size_t i = count - 1; shuffled && i > 0; i--) {
        state = state * 1664525 + 1013904223;
        std::swap(order[i], order[(size_t)((double)state / 4294967296.0 * i)]);
    }
    for (size_t i = 0; i < count; i++)
        for (int w = 0; w < 32; w++)
            next[order[i] + w] = order[(i + 1) % count];
    return next;
}

enum { CACHED, GLOBAL };
enum { MOST_STEPS = 4096 };

template <int WHERE, bool EACH>
__global__ void chase(const unsigned *next, int warm, int steps, unsigned *clocks, unsigned *out)
{
    const unsigned *own = next + threadIdx.x;
    asm volatile("" : "+l"(own));       // or the index is added to each address
    unsigned at = 0;
#pragma unroll 1
    for (int i = 0; i < warm; i++)
        at = WHERE == CACHED ? __ldca(own + at) : __ldcg(own + at);
    unsigned start = clock(), before = start;
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        at = WHERE == CACHED ? __ldca(own + at) : __ldcg(own + at);
        if (EACH) {
            if (at == 1)            // never; but it has to wait for the load
                return;
            clocks[i] = clock() - before;
            before = clock();
        }
    }
    if (!EACH)
        *clocks = clock() - start;
    *out = at;
}

struct Latency { double mean, spread; };

// Clocks a step, after `warm` steps. Before, all multiprocessors read another buffer that pushes it out of the L2 cache
// (`evict`), or the lines themselves. spread: half of what lies between the quarter that is nearest and the one farthest.
template <int WHERE>
static Latency latency(size_t bytes, size_t line, size_t warm, bool shuffled, bool evict, int lanes)
{
    int steps = std::min((size_t)MOST_STEPS, bytes / line);
    std::vector<unsigned> next = circle(bytes, line, shuffled), taken(steps);
    size_t other = evict ? 4 * (size_t)device.l2CacheSize : bytes;
    unsigned *memory = allocate<unsigned>(bytes), *out = allocate<unsigned>(sizeof *out), sum;
    uint4 *others = evict ? allocate<uint4>(other) : (uint4 *)memory;
    unsigned *clocks = allocate<unsigned>(MOST_STEPS * sizeof *clocks), blocks = 8 * device.multiProcessorCount;
    OK(cudaMemcpy(memory, next.data(), bytes, cudaMemcpyHostToDevice));
    read_all<<<blocks, BLOCK>>>(others, other / sizeof *others, out);
    chase<WHERE, false><<<1, lanes>>>(memory, warm, steps, clocks, out);
    OK(cudaMemcpy(&sum, clocks, sizeof sum, cudaMemcpyDeviceToHost));
    read_all<<<blocks, BLOCK>>>(others, other / sizeof *others, out);
    chase<WHERE, true><<<1, lanes>>>(memory, warm, steps, clocks, out);
    OK(cudaMemcpy(taken.data(), clocks, steps * sizeof *clocks, cudaMemcpyDeviceToHost));
    OK(cudaFree(memory));
    OK(cudaFree(out));
    OK(cudaFree(clocks));
    if (evict)
        OK(cudaFree(others));
    std::sort(taken.begin(), taken.end());
    return { (double)sum / steps, (taken[3 * steps / 4] - taken[steps / 4]) / 2.0 };
}

// A warp of each multiprocessor reads random lines, one at a time: what each of its latest loads took, of which one is in
// each lane.
__global__ void load_lines(const unsigned *in, unsigned lines, int steps, unsigned *clocks)
{
    unsigned own = 0, lane = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        const unsigned *at = in + (size_t)(mix(i * gridDim.x + blockIdx.x) & (lines - 1)) * 32 + lane;
        unsigned start = clock();
        if (__ldcs(at) == 1)            // never; but it has to wait for the load
            return;
        unsigned taken = clock() - start;
        if (lane == i % LANES)
            own = taken;
    }
    clocks[blockIdx.x * LANES + lane] = own;
}

// Writes what so many of a hundred loads take at most. Loads differ: by the half of L2 that a line belongs to, and by what
// its DRAM is doing.
static void measure_loads(const unsigned *in, size_t bytes, unsigned *out)
{
    static const double parts[] = { 0.05, 0.25, 0.5, 0.75, 0.9, 0.99 };
    unsigned sms = device.multiProcessorCount;
    size_t other = 4 * (size_t)device.l2CacheSize;
    uint4 *others = allocate<uint4>(other);
    std::vector<unsigned> taken(sms * LANES);
    unsigned *clocks = allocate<unsigned>(taken.size() * sizeof *clocks);
    read_all<<<8 * sms, BLOCK>>>(others, other / sizeof *others, out);
    load_lines<<<sms, LANES>>>(in, bytes / 128, 2 * LANES, clocks);
    OK(cudaMemcpy(taken.data(), clocks, taken.size() * sizeof *clocks, cudaMemcpyDeviceToHost));
    OK(cudaFree(clocks));
    OK(cudaFree(others));
    std::sort(taken.begin(), taken.end());
    printf("dram_load_clocks = [");
    for (double part : parts)
        printf("%s%.1f", part == parts[0] ? "" : ", ", (double)taken[(size_t)(part * (taken.size() - 1))]);
    printf("]; // a warp of each multiprocessor reads random lines of %zu MB, one at a time: 5, 25, 50, 75, 90 and 99 of a hundred take at most that\n", bytes >> 20);
}

// The largest piece that can be read again and again at the L1 cache's latency.
static double l1_capacity(double hit)
{
    enum { STEP = 4096 };
    size_t bytes = 16 * STEP;
    while (bytes < (1 << 20) && latency<CACHED>(bytes + STEP, 128, 2 * (bytes + STEP) / 128, false, false, 1).mean < 1.1 * hit)
        bytes += STEP;
    return bytes;
}

template <typename T>
static double l1_clocks(int spread)
{
    enum { ROUNDS_HERE = 128, LOADS = 8 * ROUNDS_HERE };
    T *in = allocate<T>(16384);
    unsigned *out = allocate<unsigned>(sizeof *out);
    long long *clocks = allocate<long long>(sizeof *clocks), taken;
    for (int i = 0; i < 2; i++)
        read_l1<T><<<device.multiProcessorCount, THREADS>>>(in, spread, ROUNDS_HERE, 0, clocks, out);
    OK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
    OK(cudaFree(in));
    OK(cudaFree(out));
    OK(cudaFree(clocks));
    return (double)taken / (LOADS * THREADS / LANES);
}

static void measure_dram()
{
    size_t bytes = (size_t)1 << 30, n = bytes / 16;
    uint4 *a = allocate<uint4>(bytes), *b = allocate<uint4>(bytes);
    unsigned *out = allocate<unsigned>(sizeof *out);
    unsigned blocks = n / BLOCK, sms = device.multiProcessorCount;
    double read = seconds([&] { read_all<<<sms * 8, BLOCK>>>(a, n, out); });
    figure("dram_read_bytes_per_second", bytes / read, "reading 1 GB, 16 bytes a lane");
    figure("dram_write_bytes_per_second", bytes / seconds([&] { write_all<<<blocks, BLOCK>>>(b, n); }),
           "writing 1 GB, 16 bytes a lane");
    figure("dram_copy_bytes_per_second", 2 * bytes / seconds([&] { copy_all<<<blocks, BLOCK>>>(b, a, n); }),
           "copying 1 GB, bytes read and written");
    double rate[3];
    for (int i = 0; i < 3; i++) {
        size_t stride = 8 << i, count = bytes / 4 / stride;
        rate[i] = count / seconds([&] { read_some<<<count / BLOCK, BLOCK>>>((unsigned *)a, count, stride, out); });
    }
    figure("dram_granule_bytes", 32 * std::max(1.0, rint(rate[0] / rate[2])),
           "sectors 128 bytes apart take that much longer than neighbours, each");
    size_t words = bytes / 4, lanes = (size_t)sms * 64 * BLOCK;
    figure("dram_random_sectors_per_second",
           8 * lanes / seconds([&] { read_random<<<lanes / BLOCK, BLOCK>>>((unsigned *)a, words, out); }),
           "a random sector of 1 GB in each lane");
    Latency one = latency<GLOBAL>((size_t)1 << 28, 4096, 16, true, true, 1);
    figure("dram_latency_clocks", one.mean, "one lane follows pointers through 256 MB, each line once");
    figure("dram_latency_spread_clocks", one.spread, "of them: half the way from the quickest quarter to the slowest");
    figure("dram_warp_latency_clocks", latency<GLOBAL>((size_t)1 << 28, 4096, 16, true, true, LANES).mean,
           "the lanes of a warp read a line together");
    measure_loads((unsigned *)a, (size_t)1 << 28, out);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(out));
}

static void measure_l2()
{
    enum { REPEAT = 256 };
    size_t bytes = 1;
    while (bytes * 8 <= (size_t)device.l2CacheSize)
        bytes *= 2;
    unsigned n = bytes / 16, sms = device.multiProcessorCount, blocks = sms * 8;
    uint4 *a = allocate<uint4>(bytes);
    unsigned *out = allocate<unsigned>(sizeof *out);
    double moved = 16.0 * blocks * BLOCK * REPEAT;
    figure("l2_read_bytes_per_clock",
           moved / seconds([&] { read_l2<<<blocks, BLOCK>>>(a, n, REPEAT, out); }) / clock_hz,
           "all multiprocessors read the same eighth of the L2 cache, 16 bytes a lane");
    figure("l2_write_bytes_per_clock",
           moved / seconds([&] { write_l2<<<blocks, BLOCK>>>(a, n, REPEAT); }) / clock_hz,
           "the same, written");
    size_t lanes = (size_t)sms * 256 * BLOCK;
    figure("l2_random_sectors_per_clock",
           8 * lanes / seconds([&] { read_random<<<lanes / BLOCK, BLOCK>>>((unsigned *)a, bytes / 4, out); })
           / clock_hz, "a random sector of it in each lane");
    double one = 16.0 * 8 * BLOCK * 4096;
    figure("l2_bytes_per_sm_per_clock",
           one / seconds([&] { read_l2<<<8, BLOCK>>>(a, n, 4096, out); }) / clock_hz / std::min(8u, sms),
           "one block on each of eight multiprocessors reads it");
    figure("l2_random_writes_per_clock",
           8 * lanes / seconds([&] { write_random<<<lanes / BLOCK, BLOCK>>>((unsigned *)a, bytes / 4); }) / clock_hz,
           "a random sector of it written by each lane");
    Latency lane = latency<GLOBAL>(bytes / 2, 128, 16, true, false, 1);
    figure("l2_latency_clocks", lane.mean,
           "one lane follows pointers through a sixteenth of the L2 cache, which all multiprocessors have read");
    figure("l2_latency_spread_clocks", lane.spread, "of them: half the way from the quickest quarter to the slowest");
    figure("l2_warp_latency_clocks", latency<GLOBAL>(bytes / 2, 128, 16, true, false, LANES).mean,
           "the lanes of a warp read a line together");
    OK(cudaFree(a));
    OK(cudaFree(out));
}

static void measure_l1()
{
    double hit = latency<CACHED>(16384, 128, 256, false, false, 1).mean;
    figure("l1_latency_clocks", hit, "one lane follows pointers through 16 KB");
    figure("l1_measured_bytes", l1_capacity(hit), "as much can be read again and again at that latency");
    figure("l1_clocks_per_request", l1_clocks<unsigned>(1), "loads of 4 bytes a lane, side by side");
    figure("l1_clocks_per_wide_request", l1_clocks<uint4>(1), "loads of 16 bytes a lane, side by side");
    figure("l1_clocks_per_strided_request", l1_clocks<unsigned>(8), "loads of 4 bytes a lane, 32 bytes apart: 8 lines");
    figure("l1_clocks_per_scattered_request", l1_clocks<unsigned>(32), "loads of 4 bytes a lane, 128 bytes apart: 32 lines");
}

void measure_memory()
{
    heading("DRAM");
    measure_dram();
    heading("The L2 cache");
    measure_l2();
    heading("The L1 cache of a multiprocessor");
    measure_l1();
}
