// What lesson 3 says of blocks' shapes, and of a GPU. For each version of the solution, from the repository's root:
//
//     nvcc -std=c++17 -O3 -lineinfo -cudart shared -arch=sm_90 -DVERSION=2 -Igrader/lessons -o build/shapes \
//         profiles/figures/03-grids-and-indexing.cu
//     simulator/run --profile build/shapes         each shape of block once, and the cat: for counters (on a GPU: ncu)
//     build/shapes times                           on a GPU: large pictures, microseconds, the median of RUNS
//
// With -DNPP -lnppicc -lnppc NVIDIA's own function stands beside ours. Both outputs, as an H200 gave them, are in
// 03-grids-and-indexing.txt.
#include "../../solutions/03-grids-and-indexing.cu"
#include <algorithm>
#ifdef NPP
#include <nppi_color_conversion.h>
#endif

enum { RUNS = 21, WIDTH = 8192, HEIGHT = 4096, COUNT = 16, SET_WIDTH = 6000, SET_HEIGHT = 4000, SET_PITCH = 6144 };
static const size_t PIXELS = (size_t)WIDTH * HEIGHT * COUNT;

template <class F> static float median(F work)
{
    cudaEvent_t from, to;
    float us[RUNS];
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    work();
    for (int r = 0; r < RUNS; r++) {
        CHECK(cudaEventRecord(from));
        work();
        CHECK(cudaEventRecord(to));
        CHECK(cudaEventSynchronize(to));
        CHECK(cudaEventElapsedTime(&us[r], from, to));
        us[r] *= 1000;
    }
    std::sort(us, us + RUNS);
    return us[RUNS / 2];
}

static const dim3 shape[] = {{256, 1}, {32, 8}, {16, 16}, {8, 32}, {4, 64}, {1, 256}};

// The whole set, and a place where hardly two neighbours agree.
static const struct { const char *name; float left, top, step; } window[] = {
    {"the whole set", -2.25f, -1.2f, 0.0006f}, {"all edge", -0.7463f, 0.1102f, 0.000002f}};

static void draw(unsigned char *out, dim3 block, int width, int height, int pitch, float left, float top, float step)
{
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    mandelbrot_pixels<<<grid, block>>>(out, pitch, width, height, left, top, step);
    CHECK(cudaGetLastError());
}

static void for_counters(unsigned char *grey, unsigned char *rgb)
{
    for (dim3 block : shape)
        draw(grey, block, 600, 400, 768, -2.25f, -1.2f, 0.006f);
    make_grey(grey, 512, rgb, 1536, 451, 300, 3);
    CHECK(cudaDeviceSynchronize());
}

static void for_times(unsigned char *grey, unsigned char *rgb)
{
    for (auto &w : window)
        for (dim3 block : shape)
            printf("%s\tversion %d, %u x %u\t%.1f\n", w.name, VERSION, block.x, block.y, median([=] {
                draw(grey, block, SET_WIDTH, SET_HEIGHT, SET_PITCH, w.left, w.top, w.step);
            }));
    printf("grey\tversion %d\t%.1f\n", VERSION,
           median([=] { make_grey(grey, WIDTH, rgb, 3 * WIDTH, WIDTH, HEIGHT, COUNT); }));
    printf("grey\ta copy of as many bytes\t%.1f\n", median([=] {
        CHECK(cudaMemcpyAsync(grey, rgb, 2 * PIXELS, cudaMemcpyDeviceToDevice));
    }));
#ifdef NPP
    NppStreamContext context = {};
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    NppiSize size = {WIDTH, HEIGHT * COUNT};
    if (nppiRGBToGray_8u_C3C1R_Ctx(rgb, 3 * WIDTH, grey, WIDTH, size, context) != NPP_SUCCESS)
        exit(printf("NPP failed\n"));
    printf("grey\tNPP\t%.1f\n",
           median([=] { nppiRGBToGray_8u_C3C1R_Ctx(rgb, 3 * WIDTH, grey, WIDTH, size, context); }));
#endif
}

int main(int argc, char **)
{
    size_t pixels = argc > 1 ? PIXELS : 1 << 20;
    unsigned char *rgb, *grey;
    CHECK(cudaMalloc(&rgb, 3 * pixels));
    CHECK(cudaMalloc(&grey, 2 * pixels));
    CHECK(cudaMemset(rgb, 99, 3 * pixels));
    (argc > 1 ? for_times : for_counters)(grey, rgb);
    CHECK(cudaFree(rgb));
    CHECK(cudaFree(grey));
}
