// What the programs of this folder share. Each has some kernels about one thing, each launched once
// with a size that fills a large GPU and that the simulated device runs in a second or two. Kernels
// that do the same work on the same data, so that a student would put their times side by side, are
// versions of one exercise, and say which.
//
//     PROGRAM N    launches each kernel N times and prints its name, its median time in
//                  microseconds, and its exercise, if any
//     PROGRAM 0    launches each once and times nothing: for ncu, which empties the caches itself
//
// Times are the student's own: two events around one launch, while the GPU is still busy with what
// was queued before it. Before each launch another kernel reads twice what the L2 cache holds, so
// that all data is in DRAM and nothing in the caches is waiting to be written. Inputs are random
// and the same in each run.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// A kernel under its own name, as profilers and the tables show it.
#define KERNEL extern "C" __global__ void

struct Version {
    const char *name; // of the kernel
    void (*launch)();
    const char *exercise; // of which it is a version; "": of none
};

// Launches the kernel NAME, in a row of the program's versions.
#define VERSION_OF(exercise, name, blocks, threads, shared, ...)                                   \
    {                                                                                              \
#name, [] { name<<<blocks, threads, shared>>>(__VA_ARGS__); }, exercise                    \
    }
#define VERSION(...) VERSION_OF("", __VA_ARGS__)

// A kernel that computes, as three: it is launched with half a block for each multiprocessor, with
// one block more than they hold at once, and with 2.5 times as many as they hold. Only their times
// are compared.
#define IN_GRIDS(name, threads, parameters, ...)                                                   \
    extern "C" __global__ __launch_bounds__(threads) void name##_few parameters { __VA_ARGS__; }   \
    extern "C" __global__ __launch_bounds__(threads) void name##_wave parameters { __VA_ARGS__; }  \
    extern "C" __global__ __launch_bounds__(threads) void name##_waves parameters { __VA_ARGS__; }

// Their rows. SHARED is dynamic shared memory, which also limits how many blocks are resident.
#define GRIDS_OF(exercise, name, threads, shared, ...)                                             \
    GRID_OF(exercise, _few, name, threads, shared, 0, __VA_ARGS__),                                \
        GRID_OF(exercise, _wave, name, threads, shared, 1, __VA_ARGS__),                           \
        GRID_OF(exercise, _waves, name, threads, shared, 2.5, __VA_ARGS__)
#define GRID_OF(exercise, grid, name, threads, shared, waves, ...)                                 \
    {                                                                                              \
#name #grid,                                                                               \
            [] {                                                                                   \
                name##grid<<<blocks_in(name##grid, threads, shared, waves), threads, shared>>>(    \
                    __VA_ARGS__);                                                                  \
            },                                                                                     \
            *exercise ? exercise #grid : ""       \
    }

// Blocks in that many waves: 0: half a block for each multiprocessor; 1: one more than a wave has.
template <typename Kernel>
static int blocks_in(Kernel kernel, int threads, int shared, double waves)
{
    int multiprocessors, each;
    OK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared));
    if (waves == 0) return multiprocessors / 2;
    return waves == 1 ? multiprocessors * each + 1 : (int)(multiprocessors * each * waves);
}

static unsigned random_word()
{
    static unsigned state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

// A number that looks like chance, of each thread or each word.
static inline __device__ unsigned mix(unsigned a)
{
    a ^= a >> 16;
    a *= 0x7feb352d;
    a ^= a >> 15;
    a *= 0x846ca68b;
    return a ^ a >> 16;
}

static std::vector<void *> allocations;

template <typename T> static T *allocate(size_t n)
{
    T *device;
    OK(cudaMalloc(&device, n * sizeof(T)));
    allocations.push_back(device);
    return device;
}

template <typename T, typename Make> static T *input(size_t n, Make make)
{
    std::vector<T> host(n);
    T *device = allocate<T>(n);
    for (size_t i = 0; i < n; i++) host[i] = make(i);
    OK(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// Numbers from 0 to 1.
static inline float *numbers(size_t n)
{
    return input<float>(n, [](size_t) { return random_word() * 0x1p-32f; });
}

// Words below `end`, which is a power of 2.
static inline unsigned *words(size_t n, unsigned end)
{
    return input<unsigned>(n, [=](size_t) { return random_word() & (end - 1); });
}

template <typename T> static T *output(size_t n)
{
    T *device = allocate<T>(n);
    OK(cudaMemset(device, 0, n * sizeof(T)));
    return device;
}

__global__ void empty_caches(const uint4 *other, size_t n, unsigned *out)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    unsigned sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        uint4 v = other[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 1) *out = sum;
}

static void time_version(const Version &version, int rounds)
{
    static cudaDeviceProp device;
    static size_t enough; // to fill the L2 cache twice, in 16 bytes
    static uint4 *other;
    static unsigned *out;
    if (!other) {
        OK(cudaGetDeviceProperties(&device, 0));
        enough = 2 * (size_t)device.l2CacheSize / sizeof *other;
        other = output<uint4>(enough);
        out = output<unsigned>(1);
    }
    cudaEvent_t start, stop;
    std::vector<float> times(rounds);
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    for (float &time : times) {
        empty_caches<<<8 * device.multiProcessorCount, 256>>>(other, enough, out);
        OK(cudaEventRecord(start));
        version.launch();
        OK(cudaEventRecord(stop));
        OK(cudaGetLastError());
        OK(cudaEventSynchronize(stop));
        OK(cudaEventElapsedTime(&time, start, stop));
    }
    std::sort(times.begin(), times.end());
    printf("%s %.3f %s\n", version.name, 1e3f * times[rounds / 2], version.exercise);
    fflush(stdout);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
}

template <size_t N>
static int run_versions(int count, char **arguments, const Version (&versions)[N])
{
    int rounds = count > 1 ? atoi(arguments[1]) : 1;
    for (const Version &version : versions) {
        if (rounds > 0) {
            time_version(version, rounds);
        } else {
            version.launch();
            OK(cudaGetLastError());
            OK(cudaDeviceSynchronize());
        }
    }
    OK(cudaDeviceSynchronize());
    for (void *device : allocations) OK(cudaFree(device));
    return 0;
}
