// Measures what lesson 10 draws: bytes counted a second over the number of different values that occur, each as often as
// the others, by the lesson's versions and by CUB, all in one run. On a machine with a GPU, from the repository's root:
//
//     nvcc -std=c++17 -O3 -arch=native -Igrader/lessons -o build/measure profiles/figures/10-histogram.cu
//     build/measure >profiles/figures/10-histogram.txt
//
// Each line it writes has a series, the number of values, and 10^9 bytes a second.
static int version;
#define VERSION version
#include "../../solutions/10-histogram.cu"
#include "../../grader/lessons/10-histogram.peer.cu"

#include <algorithm>
#include <time.h>

enum { MOST = 1 << 28, SETS = 2, TIMES = 9, CALLS = 16 };

static unsigned char *in[SETS];
static int *bins, n;

static void by_version(int set) { histogram(bins, in[set], n); }
static void by_cub(int set) { histogram_cub(bins, in[set], n); }

// As version 2, but it adds what it does not know to be 1, so that no instruction counts lanes for it.
__global__ void count_weighted(int *bins, const unsigned char *in, int n, int weight)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], weight);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

static void weighted(int set)
{
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    count_weighted<<<BLOCKS, THREADS>>>(bins, in[set], n, 1);
    CHECK(cudaGetLastError());
}

// As version 3, but lanes with the same byte find each other, and one of them adds for all. Whole warps go round.
__global__ void count_matched(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;
    const uint4 *in16 = (const uint4 *)in;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n / 16; i += gridDim.x * THREADS) {
        uint4 v = in16[i];
        const unsigned four[] = { v.x, v.y, v.z, v.w };
        #pragma unroll
        for (int k = 0; k < 16; k++) {
            int b = four[k / 4] >> 8 * (k % 4) & 255;
            unsigned same = __match_any_sync(0xffffffff, b);
            if (t % 32 == __ffs(same) - 1)
                atomicAdd(&mine[b], __popc(same));
        }
    }
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

static void matched(int set)
{
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    count_matched<<<BLOCKS, THREADS>>>(bins, in[set], n);
    CHECK(cudaGetLastError());
}

__device__ unsigned mixed(unsigned x)
{
    x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b, x ^= x >> 16;
    return x;
}

// So many values, which lie as far apart as they can, in an order that tells nothing.
__global__ void fill(unsigned char *in, int n, int values, unsigned seed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        in[i] = (unsigned char)(mixed(i ^ seed) % values * 37);
}

// So many additions in each thread, to words that nobody can foresee.
__global__ void add_anywhere(int *to, unsigned words, int each)
{
    unsigned x = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < each; k++)
        atomicAdd(&to[mixed(x * each + k) % words], 1);
}

static int *places;
static unsigned places_count;
enum { EACH = 64 };

static void anywhere(int)
{
    add_anywhere<<<BLOCKS, THREADS>>>(places, places_count, EACH);
    CHECK(cudaGetLastError());
}

// The median of several runs, each of some calls on both inputs in turns.
static double seconds(void (*call)(int set))
{
    cudaEvent_t begin, end;
    float times[TIMES];

    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    call(0);
    for (int t = 0; t < TIMES; t++) {
        CHECK(cudaEventRecord(begin));
        for (int c = 0; c < CALLS; c++)
            call(c % SETS);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&times[t], begin, end));
    }
    std::sort(times, times + TIMES);
    return times[TIMES / 2] / CALLS / 1e3;
}

static void measure(const char *series, void (*call)(int set), int bytes)
{
    n = bytes;
    for (int values = 1; values <= BINS; values *= 2) {
        for (int s = 0; s < SETS; s++)
            fill<<<1024, 256>>>(in[s], n, values, s * 77);
        CHECK(cudaDeviceSynchronize());
        printf("%s\t%d\t%.4g\n", series, values, n / seconds(call) / 1e9);
        fflush(stdout);
    }
}

int main(void)
{
    static const struct { const char *series; int version; } versions[] = {
        { "version 4", 4 }, { "version 3", 3 }, { "version 2", 2 }, { "version 1", 1 },
    };
    char today[32];
    time_t now = time(NULL);
    cudaDeviceProp gpu;

    CHECK(cudaGetDeviceProperties(&gpu, 0));
    strftime(today, sizeof today, "%Y-%m-%d", gmtime(&now));
    printf("# Written by profiles/figures/10-histogram.cu on %s, on an %s\n# series, different values, GB/s\n", today, gpu.name);
    for (int s = 0; s < SETS; s++)
        CHECK(cudaMalloc(&in[s], MOST));
    CHECK(cudaMalloc(&bins, BINS * sizeof *bins));
    for (int s = 0; s < SETS; s++)
        fill<<<1024, 256>>>(in[s], MOST, BINS, s * 77);
    for (int k = 0; k < 1000; k++)      // until the clocks have risen
        fill<<<1024, 256>>>(in[0], MOST / 4, BINS, 0);
    n = 1 << 23;
    for (version = 3; version <= 5; version++)
        printf("# 8 MiB with 256 values, version %d: %.3g us\n", version, seconds(by_version) * 1e6);
    printf("# 8 MiB with 256 values, CUB: %.3g us\n", seconds(by_cub) * 1e6);
    n = MOST, version = 5;
    printf("# 256 MiB with 256 values, version 5: %.4g GB/s\n", n / seconds(by_version) / 1e9);
    CHECK(cudaMalloc(&places, 1 << 24));
    CHECK(cudaMemset(places, 0, 1 << 24));
    for (unsigned bytes : {1 << 10, 1 << 24}) {
        places_count = bytes / 4;
        printf("# Additions anywhere in %u bytes of L2: %.3g 10^9 a second\n", bytes,
               1e-9 * BLOCKS * THREADS * EACH / seconds(anywhere));
    }
    for (size_t k = 0; k < sizeof versions / sizeof *versions; k++) {
        version = versions[k].version;
        measure(versions[k].series, by_version, version == 1 ? 1 << 20 : MOST);
    }
    measure("2, weighted", weighted, MOST);
    measure("3, matched", matched, MOST / 8);
    measure("CUB", by_cub, MOST);
}
