// Measures what lesson 4 draws: the rates of copies between the kinds of memory, and the rate of polynomial over its
// arithmetic intensity, beside what memory and arithmetic can do, all in one run. From the repository's root, on a machine with a GPU
// (and with simulator/run before it, on none):
//
//     nvcc -std=c++17 -O3 -arch=native -cudart shared -Igrader/lessons -o build/measure profiles/figures/04-roofline.cu
//     build/measure copies >profiles/figures/04-copies.txt
//     build/measure roofline >profiles/figures/04-roofline.txt
static int version;
#define VERSION version
#include "../../solutions/04-roofline.cu"

#include <string.h>
#include <time.h>

// The median of seven times, in seconds, of a launch.
template <typename F> static double seconds(F launch, int runs)
{
    cudaEvent_t start, stop;
    float times[7];
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    launch();
    for (int t = 0; t < runs; t++) {
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&times[t], start, stop));
        for (int k = t; k > 0 && times[k] < times[k - 1]; k--) {
            float later = times[k];
            times[k] = times[k - 1], times[k - 1] = later;
        }
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times[runs / 2] * 1e-3;
}

// Multiply-and-adds with nothing to load: 16 chains a thread.
__global__ void arithmetic(float *out, float x, int rounds)
{
    float sum[16];
    for (int k = 0; k < 16; k++) sum[k] = threadIdx.x + k;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < 16; k++) sum[k] = sum[k] * x + 1;
    float all = 0;
    for (int k = 0; k < 16; k++) all += sum[k];
    if (all == 0.1234f) *out = all;
}

static void copies(void)
{
    static const char *const names[] = {"pageable", "pinned", "device"};
    printf("# from, to, bytes, MB/s\n");
    for (int from = PAGEABLE; from <= DEVICE; from++)
        for (int to = PAGEABLE; to <= DEVICE; to++)
            if (from == DEVICE || to == DEVICE)
                for (int bytes = 1 << 10; bytes <= 1 << 28; bytes *= 4)
                    printf("%s to %s\t%d\t%d\n", names[from], names[to], bytes, copy_rate(to, from, bytes, 20));
}

static void roofline(int n, int runs)
{
    float *in, *out, *c;
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&in, n * sizeof *in));
    CHECK(cudaMalloc(&out, n * sizeof *out));
    CHECK(cudaMalloc(&c, 1001 * sizeof *c));
    CHECK(cudaMemset(in, 0, n * sizeof *in));
    CHECK(cudaMemset(c, 0, 1001 * sizeof *c));

    int rounds = runs > 1 ? 4096 : 64;
    double copy = 2.0 * n * sizeof *in / seconds([&] { CHECK(cudaMemcpyAsync(out, in, n * sizeof *in, cudaMemcpyDeviceToDevice)); }, runs);
    double peak = 2.0 * 16 * rounds * 1024 * 8 * sms / seconds([&] { arithmetic<<<8 * sms, 1024>>>(out, 0.5f, rounds); }, runs);
    printf("# A copy makes %.4g GB/s. Multiply-and-adds with nothing to load: %.4g GFLOP/s\n", copy / 1e9, peak / 1e9);
    printf("# series, operations a byte, GFLOP/s\n");
    for (double intensity = 0.125; intensity <= 256; intensity *= 2) {
        double memory = intensity * copy;
        printf("the roofline\t%g\t%.4g\n", intensity, (memory < peak ? memory : peak) / 1e9);
    }
    for (version = 1; version <= 5; version++)
        for (int degree = 1; degree <= 1000; degree *= 2) {
            double t = seconds([&] { polynomial(out, in, c, degree, n); }, runs);
            printf("version %d\t%g\t%.4g\n", version, 2.0 * degree / 8, 2.0 * degree * n / t / 1e9);
        }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(c));
}

int main(int argc, char **argv)
{
    cudaDeviceProp device;
    time_t now = time(NULL);
    char day[32];
    CHECK(cudaGetDeviceProperties(&device, 0));
    strftime(day, sizeof day, "%F", gmtime(&now));
    printf("# Written by profiles/figures/04-roofline.cu on %s, on an %s\n", day, device.name);
    if (argc > 1 && !strcmp(argv[1], "copies")) copies();
    else if (argc > 1 && !strcmp(argv[1], "small")) roofline(1 << 18, 1);   // for the simulated device
    else roofline(1 << 27, 7);
    return 0;
}
