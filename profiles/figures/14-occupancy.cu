// Measures what lesson 14 draws: the speed of the curve over the warps that a multiprocessor holds, with one load and with
// several under way in each thread. On a machine with a GPU, from the repository's root:
//
//     nvcc -std=c++17 -O2 -arch=native -Igrader/lessons -o build/measure profiles/figures/14-occupancy.cu
//     build/measure >profiles/figures/14-occupancy.txt
//
// Each line it writes has a series, the warps, and 10^9 bytes a second: 8 for each of 67,108,864 readings. The kernel of
// more than 2 warps has one block on each multiprocessor as long as one can have so many threads, then several.
#include "../../solutions/14-occupancy.cu"

#include <algorithm>
#include <time.h>

enum { READINGS = 1 << 26, RUNS = 15 };

__device__ float values(const float *here, int raw) { return interpolate(here, raw); }
__device__ float4 values(const float *here, int4 raw)
{
    return make_float4(interpolate(here, raw.x), interpolate(here, raw.y), interpolate(here, raw.z), interpolate(here, raw.w));
}

// LOADS loads under way in each thread, of a number or of four at a time. n is a multiple of what the grid takes in a turn.
template <int LOADS, typename Out, typename Raw>
__global__ void curve(Out *out, const Raw *raw, const float *table, int n)
{
    __shared__ float here[POINTS];
    copy_table(here, table);
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += LOADS * stride) {
        Raw r[LOADS];
        for (int j = 0; j < LOADS; j++)
            if (i + j * stride < n)
                r[j] = raw[i + j * stride];
        for (int j = 0; j < LOADS; j++)
            if (i + j * stride < n)
                out[i + j * stride] = values(here, r[j]);
    }
}

static float *out, *table;
static int *raw, multiprocessors;

static double seconds(const void *kernel, int blocks, int threads, int n)
{
    cudaEvent_t from, to;
    float ms[RUNS];
    void *arguments[] = {&out, &raw, &table, &n};
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (int run = 0; run < RUNS; run++) {
        CHECK(cudaEventRecord(from));
        CHECK(cudaLaunchKernel(kernel, blocks, threads, arguments, 0, 0));
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&ms[run], from, to));
    }
    std::sort(ms, ms + RUNS);
    return ms[RUNS / 2] * 1e-3;
}

static void measure(const char *series, const void *kernel, int bytes)
{
    for (int warps = 2; warps <= 64; warps *= 2) {
        int threads = std::min(32 * warps, bytes == 4 ? 1024 : 512), blocks = 32 * warps / threads, fit;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, 0));
        if (fit >= blocks)
            printf("%s\t%d\t%.4g\n", series, warps,
                   8.0 * READINGS / seconds(kernel, blocks * multiprocessors, threads, READINGS / (bytes / 4)) / 1e9);
    }
}

int main()
{
    cudaDeviceProp p;
    char day[20];
    time_t now = time(NULL);
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));

    int *host = (int *)malloc(4ll * READINGS);
    for (int i = 0; i < READINGS; i++)
        host[i] = i * 2654435761u >> 16;
    CHECK(cudaMalloc(&raw, 4ll * READINGS));
    CHECK(cudaMalloc(&out, 4ll * READINGS));
    CHECK(cudaMalloc(&table, 4 * POINTS));
    CHECK(cudaMemcpy(raw, host, 4ll * READINGS, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(table, 0, 4 * POINTS));

    printf("# Written by profiles/figures/14-occupancy.cu on %s, on an %s\n# series, warps on a multiprocessor, GB/s\n", day, p.name);
    measure("1 load of 4 bytes", (void *)curve<1, float, int>, 4);
    measure("4 loads of 4", (void *)curve<4, float, int>, 4);
    measure("1 load of 16", (void *)curve<1, float4, int4>, 16);
    measure("4 loads of 16", (void *)curve<4, float4, int4>, 16);
    return 0;
}
