// The clock, launches, copies and managed memory.
#include <chrono>
#include <cstring>

#include "measure.h"

// Busy for a while; says how far the clock and the time went.
__global__ void work(int rounds, long long *clocks, unsigned long long *ns, float *out)
{
    unsigned long long before, after;
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    long long start = clock64();
#pragma unroll 16
    for (int r = 0; r < rounds; r++)
        a = a * 0.5f + 1, b = b * 0.5f + 1, c = c * 0.5f + 1, d = d * 0.5f + 1;
    long long end = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *clocks = end - start, *ns = after - before;
    if (a + b + c + d == 1)
        *out = a;
}

void measure_clock()
{
    long long *clocks = allocate<long long>(sizeof *clocks), taken;
    unsigned long long *ns = allocate<unsigned long long>(sizeof *ns), passed;
    float *out = allocate<float>(sizeof *out);
    for (int i = 0; i < 4; i++)
        work<<<2 * device.multiProcessorCount, THREADS>>>(400000, clocks, ns, out);
    OK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&passed, ns, sizeof passed, cudaMemcpyDeviceToHost));
    clock_hz = taken / (passed * 1e-9);
    figure("clock_hz", clock_hz, "clocks over nanoseconds while all multiprocessors multiply and add");
    OK(cudaFree(clocks));
    OK(cudaFree(ns));
    OK(cudaFree(out));
}

__global__ void nothing() {}

__global__ void touch(unsigned *memory, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        memory[i]++;
}

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The median seconds of the host in call().
template <typename Call>
static double host_seconds(Call call)
{
    std::vector<double> times;
    for (int i = 0; i <= ROUNDS; i++) {
        OK(cudaDeviceSynchronize());
        double start = now();
        call();
        if (i)
            times.push_back(now() - start);
    }
    return median(times);
}

static void measure_launches()
{
    enum { MANY = 200 };
    unsigned sms = device.multiProcessorCount;
    heading("Launches");
    figure("launch_seconds", host_seconds([] { nothing<<<1, 1>>>(); OK(cudaDeviceSynchronize()); }),
           "the host launches an empty kernel and waits");
    figure("launch_call_seconds", host_seconds([] { for (int i = 0; i < MANY; i++) nothing<<<1, 1>>>(); }) / MANY,
           "the host launches and does not wait");
    figure("kernel_seconds", seconds([] { nothing<<<1, 1>>>(); }), "events around an empty kernel");
    double few = seconds([=] { nothing<<<sms, THREADS>>>(); });
    double small = seconds([=] { nothing<<<sms * 1024, LANES>>>(); });
    double large = seconds([=] { nothing<<<sms * 256, THREADS>>>(); });
    figure("block_clocks", (small - few) / 1024 * clock_hz, "for each empty block of 32 threads on a multiprocessor");
    figure("large_block_clocks", (large - few) / 255 * clock_hz, "for each empty block of 1024 threads");
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    double start = now();
    for (int i = 0; i < MANY; i++)
        OK(cudaEventRecord(event));
    figure("event_call_seconds", (now() - start) / MANY, "cudaEventRecord(), which does not wait");
    OK(cudaEventDestroy(event));
}

static void measure_copies()
{
    size_t bytes = (size_t)1 << 28;
    char *there = allocate<char>(bytes), *other = allocate<char>(bytes), *pinned, *pageable = (char *)malloc(bytes);
    OK(cudaMallocHost(&pinned, bytes));
    memset(pinned, 1, bytes);
    memset(pageable, 1, bytes);
    heading("Copies");
    auto rate = [=](void *to, const void *from, cudaMemcpyKind kind) {
        return bytes / host_seconds([=] { OK(cudaMemcpy(to, from, bytes, kind)); OK(cudaDeviceSynchronize()); });
    };
    figure("copy_bytes_per_second", rate(there, pinned, cudaMemcpyHostToDevice), "256 MB of pinned memory to the device");
    figure("copy_back_bytes_per_second", rate(pinned, there, cudaMemcpyDeviceToHost), "and back");
    figure("pageable_bytes_per_second", rate(there, pageable, cudaMemcpyHostToDevice), "256 MB of pageable memory to the device");
    figure("pageable_back_bytes_per_second", rate(pageable, there, cudaMemcpyDeviceToHost), "and back");
    figure("device_copy_bytes_per_second", bytes / host_seconds([=] {
               OK(cudaMemcpy(other, there, bytes, cudaMemcpyDeviceToDevice)); OK(cudaDeviceSynchronize()); }),
           "256 MB on the device, counted once");
    figure("copy_call_seconds", host_seconds([=] { OK(cudaMemcpy(there, pinned, 4, cudaMemcpyHostToDevice)); }),
           "4 bytes to the device, waited for");
    OK(cudaFree(there));
    OK(cudaFree(other));
    OK(cudaFreeHost(pinned));
    free(pageable);
}

static void measure_managed()
{
    size_t bytes = (size_t)1 << 26, n = bytes / sizeof(unsigned);
    unsigned *memory;
    OK(cudaMallocManaged(&memory, bytes));
    auto fetch = [=](bool ahead) {
        std::vector<double> times;
        for (int i = 0; i <= ROUNDS; i++) {
            for (size_t k = 0; k < n; k += 1024)
                memory[k] = i;
            double start = now();
            if (ahead)
                OK(cudaMemPrefetchAsync(memory, bytes, { cudaMemLocationTypeDevice, 0 }, 0));
            else
                touch<<<n / 256, 256>>>(memory, n);
            OK(cudaDeviceSynchronize());
            times.push_back(now() - start);
            OK(cudaDeviceSynchronize());
        }
        return median(times);
    };
    heading("Managed memory");
    double ahead = fetch(true), faulting = fetch(false);
    figure("managed_bytes_per_second", bytes / ahead, "cudaMemPrefetchAsync() of 64 MB");
    figure("managed_fault_seconds", std::max(0.0, faulting - ahead) / (bytes / 65536),
           "how much longer a kernel takes that touches them, for each 64 KB");
    OK(cudaFree(memory));
}

void measure_host()
{
    measure_launches();
    measure_copies();
    measure_managed();
}
