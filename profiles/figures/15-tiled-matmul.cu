// Measures what lesson 15 draws: the speed of n x n products over n, by one core of the CPU, by the lesson's
// versions, and by cuBLAS, all in one run. On a machine with a GPU, from the repository's root:
//
//     nvcc -std=c++17 -O3 -arch=native -Igrader/lessons -o build/measure profiles/figures/15-tiled-matmul.cu -lcublas
//     build/measure >profiles/figures/15-tiled-matmul.txt
//
// Each line it writes has a series, n, and 10^9 operations a second, where a product has 2 n^3.
static int version;
#define VERSION version
#include "../../solutions/15-tiled-matmul.cu"

#include <chrono>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <string.h>
#include <time.h>

static cublasHandle_t cublas;
static float *host_a, *host_b, *host_c;   // as malloc gives them
static float *a, *b, *c;                  // the device's

static void cpu(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int p = 0; p < n; p++)
                sum += host_a[(size_t)i * n + p] * host_b[(size_t)p * n + j];
            host_c[(size_t)i * n + j] = sum;
        }
}

// cuBLAS's matrices lie column by column. Read so, our rows are its columns, and C's transpose is B's times A's.
static void by_cublas(int n)
{
    float one = 1, none = 0;
    if (cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &none, c, n)) {
        fprintf(stderr, "cublasSgemm failed, n = %d\n", n);
        exit(EXIT_FAILURE);
    }
}

static void by_version(int n)
{
    matmul(c, a, b, n, n, n);
}

static void with_copies(int n)
{
    size_t bytes = sizeof(float) * n * n;
    CHECK(cudaMemcpy(a, host_a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, host_b, bytes, cudaMemcpyHostToDevice));
    matmul(c, a, b, n, n, n);
    CHECK(cudaMemcpy(host_c, c, bytes, cudaMemcpyDeviceToHost));
}

// ---- The device's own rate: multiply-and-adds, and nothing else. 16 sums a thread, so that none waits for the one before.

enum { SUMS = 16, TURNS = 20000, RATE_THREADS = 256, BLOCKS_EACH = 8 };

__global__ void __launch_bounds__(RATE_THREADS) multiply_add(float *c, float x, float y)
{
    float sum[SUMS], all = 0;

    for (int i = 0; i < SUMS; i++)
        sum[i] = threadIdx.x + i;
    for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sum[i] = sum[i] * x + y;
    for (int i = 0; i < SUMS; i++)
        all += sum[i];
    c[blockIdx.x * RATE_THREADS + threadIdx.x] = all;
}

static void multiply_adds(int blocks)
{
    multiply_add<<<blocks, RATE_THREADS>>>(c, 0.5f, 1.0f);
    CHECK(cudaGetLastError());
}

// ---- The clock

static double seconds(void)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds for `count` calls, one after the other.
static double timed(void (*product)(int), int n, int count)
{
    CHECK(cudaDeviceSynchronize());
    double began = seconds();
    for (int i = 0; i < count; i++)
        product(n);
    CHECK(cudaDeviceSynchronize());
    return seconds() - began;
}

// As many calls as take a twentieth of a second; the median of five such rounds. One call if that takes longer.
static void measure(const char *series, void (*product)(int), int n)
{
    double once = timed(product, n, 1), round[5];
    if (once < 0.5)
        once = timed(product, n, 1);
    if (once < 0.5) {
        int count = 1 + 0.05 / once;
        for (int r = 0; r < 5; r++) {
            double took = timed(product, n, count) / count;
            int at = r;
            for (; at > 0 && round[at - 1] > took; at--)
                round[at] = round[at - 1];
            round[at] = took;
        }
        once = round[2];
    }
    printf("%s\t%d\t%.4g\n", series, n, 2e-9 * n * n * n / once);
    fflush(stdout);
}

static void fill(float *x, size_t count)
{
    unsigned state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        x[i] = (int)(state >> 8) / 8388608.0f - 1;
    }
}

static void say_where(void)
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    char line[200], core[200] = "unknown\n", day[20];
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "model name", 10) == 0)
            strcpy(core, strchr(line, ':') + 2);
    time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d", gmtime(&now));
    printf("# Written by profiles/figures/15-tiled-matmul.cu on %s, on an %s; the CPU: one core of an %s", day,
           device.name, core);
    int blocks = device.multiProcessorCount * BLOCKS_EACH, calls = 20;
    timed(multiply_adds, blocks, 2);
    printf("# Multiply-and-adds with nothing to load: %.4g GFLOP/s\n",
           2e-9 * SUMS * TURNS * RATE_THREADS * blocks * calls / timed(multiply_adds, blocks, calls));
    printf("# series, n, GFLOP/s\n");
}

int main(void)
{
    enum { MOST = 8192, CPU_MOST = 1024 };
    size_t count = (size_t)MOST * MOST;
    host_a = (float *)malloc(4 * count), host_b = (float *)malloc(4 * count), host_c = (float *)malloc(4 * count);
    fill(host_a, count);
    fill(host_b, count);
    CHECK(cudaMalloc(&a, 4 * count));
    CHECK(cudaMalloc(&b, 4 * count));
    CHECK(cudaMalloc(&c, 4 * count));
    CHECK(cudaMemcpy(a, host_a, 4 * count, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, host_b, 4 * count, cudaMemcpyHostToDevice));
    cublasCreate(&cublas);
    cublasSetMathMode(cublas, CUBLAS_PEDANTIC_MATH);   // float all the way, no TF32

    say_where();
    for (int n = 16; n <= CPU_MOST; n *= 2)
        measure("CPU, one core", cpu, n);
    for (version = 1; version <= 4; version++)
        for (int n = 16; n <= MOST; n *= 2) {
            char name[20];
            sprintf(name, "version %d", version);
            measure(name, by_version, n);
        }
    version = 4;
    for (int n = 16; n <= MOST; n *= 2)
        measure("version 4, copies too", with_copies, n);
    for (int n = 16; n <= MOST; n *= 2)
        measure("cuBLAS", by_cublas, n);
    return 0;
}
