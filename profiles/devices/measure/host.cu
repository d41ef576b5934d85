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

static double kernel_seconds()
{
    cudaEvent_t start, stop;
    std::vector<double> times;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    for (int i = 0; i < 5 * ROUNDS; i++) {
        float ms;
        nothing<<<device.multiProcessorCount * 2048, LANES>>>();
        OK(cudaEventRecord(start));
        nothing<<<1, LANES>>>();
        OK(cudaEventRecord(stop));
        OK(cudaEventSynchronize(stop));
        OK(cudaEventElapsedTime(&ms, start, stop));
        times.push_back(ms * 1e-3);
    }
    return median(times);
}

// From one end of a chain of so many kernels in a graph to the other, as events see it.
static double graph_seconds(int kernels)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++)
        nothing<<<1, LANES, 0, stream>>>();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&ready, graph, 0));
    double time = seconds([=] { OK(cudaGraphLaunch(ready, 0)); });
    OK(cudaGraphExecDestroy(ready));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    return time;
}

static void do_nothing(void *) {}

// Of the host, for each of many calls that do not wait, behind which the device has little to do.
template <typename Call>
static double call_seconds(Call call)
{
    enum { MANY = 200 };
    return host_seconds([=] { for (int i = 0; i < MANY; i++) call(); }) / MANY;
}

// cudaGraphLaunch() of so many kernels in a chain.
static double graph_call_seconds(int kernels)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < kernels; i++)
        nothing<<<1, LANES, 0, stream>>>();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&ready, graph, 0));
    OK(cudaGraphLaunch(ready, stream));
    double time = host_seconds([=] { for (int i = 0; i < 20; i++) OK(cudaGraphLaunch(ready, stream)); }) / 20;
    OK(cudaGraphExecDestroy(ready));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    return time;
}

// Calls that give the device work, or wait for it: what they cost the host.
static void measure_calls()
{
    cudaEvent_t event;
    cudaStream_t stream, other;
    int *there = allocate<int>(sizeof *there), *pinned;
    OK(cudaMallocHost(&pinned, sizeof *pinned));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    figure("untimed_event_call_seconds", call_seconds([=] { OK(cudaEventRecord(event, stream)); }),
           "the same of an event without timing");
    figure("wait_call_seconds", call_seconds([=] { OK(cudaStreamWaitEvent(other, event, 0)); }), "cudaStreamWaitEvent()");
    figure("synchronize_call_seconds", call_seconds([=] { OK(cudaStreamSynchronize(other)); }),
           "cudaStreamSynchronize(), where nothing is left to wait for");
    figure("async_copy_call_seconds", call_seconds([=] { OK(cudaMemcpyAsync(there, pinned, 4, cudaMemcpyHostToDevice, stream)); }),
           "cudaMemcpyAsync() of pinned memory");
    figure("fill_call_seconds", call_seconds([=] { OK(cudaMemsetAsync(there, 0, 4, stream)); }), "cudaMemsetAsync()");
    figure("host_function_call_seconds", call_seconds([=] { OK(cudaLaunchHostFunc(stream, do_nothing, NULL)); }),
           "cudaLaunchHostFunc()");
    double small = graph_call_seconds(1), large = graph_call_seconds(1001);
    figure("graph_call_seconds", small, "cudaGraphLaunch()");
    figure("graph_node_call_seconds", std::max(0.0, (large - small) / 1000), "for each further node of the graph");
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(there));
}

// Each warp tells when it begins. Then all wait for the first one, which does the same three times, and tells when it has done
// it once and twice.
__global__ void take_turns(long long *began, long long *done, unsigned *sm)
{
    long long now = clock64();
    unsigned warp = threadIdx.x / LANES, at;
    float a = 1;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(at));
    if (threadIdx.x % LANES == 0)
        began[blockIdx.x * (THREADS / LANES) + warp] = now;
    if (threadIdx.x == 0)
        sm[blockIdx.x] = at;
    for (int i = 0; warp == 0 && i < 3; i++) {
        for (int r = 0; r < 500; r++)
            asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(a));
        if (threadIdx.x == 0 && i < 2)
            done[2 * blockIdx.x + i] = clock64();
    }
    __syncthreads();
}

// Blocks end that have long since stored what they store: the n-th to end on a multiprocessor makes room for the one that begins
// there as the n-th after those which it took at first.
static void measure_turns()
{
    enum { WARPS = THREADS / LANES, EACH = 64 };
    unsigned sms = device.multiProcessorCount, blocks = sms * EACH, places = device.maxThreadsPerMultiProcessor / THREADS;
    long long *began = allocate<long long>(blocks * WARPS * sizeof *began), *done = allocate<long long>(2 * blocks * sizeof *done);
    unsigned *sm = allocate<unsigned>(blocks * sizeof *sm);
    std::vector<long long> when(blocks * WARPS), twice(2 * blocks);
    std::vector<unsigned> where(blocks);
    std::vector<double> skews, turns;
    for (int i = 0; i < 2; i++)
        take_turns<<<blocks, THREADS>>>(began, done, sm);
    OK(cudaMemcpy(when.data(), began, when.size() * sizeof *began, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(twice.data(), done, twice.size() * sizeof *done, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(where.data(), sm, where.size() * sizeof *sm, cudaMemcpyDeviceToHost));
    OK(cudaFree(began));
    OK(cudaFree(done));
    OK(cudaFree(sm));
    for (unsigned n = 0; n < sms; n++) {
        std::vector<long long> begins, ends;
        for (unsigned b = 0; b < blocks; b++) {
            const long long *warps = &when[b * WARPS], first = *std::min_element(warps, warps + WARPS);
            if (where[b] != n)
                continue;
            begins.push_back(first);
            ends.push_back(2 * twice[2 * b + 1] - twice[2 * b]);
            skews.push_back(*std::max_element(warps, warps + WARPS) - first);
        }
        std::sort(begins.begin(), begins.end());
        std::sort(ends.begin(), ends.end());
        for (size_t i = places; i < begins.size(); i++)
            turns.push_back(begins[i] - ends[i - places]);
    }
    figure("warp_launch_clocks", median(skews) / (WARPS - 1), "between two warps of a block of 1024 threads that begins");
    figure("block_turn_clocks", median(turns), "until the place of a block of 1024 threads, whose last store is long done, has the next");
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
    figure("kernel_seconds", kernel_seconds(), "events around an empty kernel, while another one runs before it");
    double short_graph = graph_seconds(1), long_graph = graph_seconds(1 + MANY);
    figure("graph_kernel_seconds", (long_graph - short_graph) / MANY, "each further kernel in a chain in a graph");
    figure("graph_seconds", short_graph, "a graph of one empty kernel");
    figure("host_function_seconds", (seconds([] { for (int i = 0; i < MANY; i++) OK(cudaLaunchHostFunc(0, do_nothing, NULL)); })) / MANY,
           "each of many functions of the host in a stream");
    double few = seconds([=] { nothing<<<sms, THREADS>>>(); });
    double small = seconds([=] { nothing<<<sms * 1024, LANES>>>(); });
    double large = seconds([=] { nothing<<<sms * 256, THREADS>>>(); });
    figure("block_clocks", (small - few) / 1024 * clock_hz, "for each empty block of 32 threads on a multiprocessor");
    figure("large_block_clocks", (large - few) / 255 * clock_hz, "for each empty block of 1024 threads");
    measure_turns();
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    double start = now();
    for (int i = 0; i < MANY; i++)
        OK(cudaEventRecord(event));
    figure("event_call_seconds", (now() - start) / MANY, "cudaEventRecord(), which does not wait");
    OK(cudaEventDestroy(event));
    measure_calls();
}

// Each of many calls, one behind the other in a stream, which is busy until all have been issued: so it is the device that
// takes the time.
template <typename Call>
static double each(Call call)
{
    enum { MANY = 20 };
    cudaEvent_t start, stop;
    std::vector<double> times;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    for (int i = 0; i < 5 * ROUNDS; i++) {
        float one, all;
        for (int more = 0; more < 2; more++) {
            nothing<<<device.multiProcessorCount * 2048, LANES>>>();
            OK(cudaEventRecord(start));
            for (int n = 0; n < (more ? 1 + MANY : 1); n++)
                call();
            OK(cudaEventRecord(stop));
            OK(cudaEventSynchronize(stop));
            OK(cudaEventElapsedTime(more ? &all : &one, start, stop));
        }
        times.push_back((all - one) * 1e-3 / MANY);
    }
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    return median(times);
}

static double measure_copies()
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
    double bus = rate(there, pinned, cudaMemcpyHostToDevice);
    figure("copy_bytes_per_second", bus, "256 MB of pinned memory to the device");
    figure("copy_back_bytes_per_second", rate(pinned, there, cudaMemcpyDeviceToHost), "and back");
    figure("pageable_bytes_per_second", rate(there, pageable, cudaMemcpyHostToDevice), "256 MB of pageable memory to the device");
    figure("pageable_back_bytes_per_second", rate(pageable, there, cudaMemcpyDeviceToHost), "and back");
    figure("device_copy_bytes_per_second", bytes / host_seconds([=] {
               OK(cudaMemcpy(other, there, bytes, cudaMemcpyDeviceToDevice)); OK(cudaDeviceSynchronize()); }),
           "256 MB on the device, counted once");
    figure("copy_call_seconds", host_seconds([=] { OK(cudaMemcpy(there, pinned, 4, cudaMemcpyHostToDevice)); }),
           "4 bytes to the device, waited for");
    figure("copy_seconds", each([=] { OK(cudaMemcpyAsync(there, pinned, 4, cudaMemcpyHostToDevice, 0)); }),
           "each of many copies of 4 bytes to the device");
    figure("copy_back_seconds", each([=] { OK(cudaMemcpyAsync(pinned, there, 4, cudaMemcpyDeviceToHost, 0)); }), "and back");
    figure("device_copy_seconds", each([=] { OK(cudaMemcpyAsync(other, there, 4, cudaMemcpyDeviceToDevice, 0)); }),
           "each of many copies of 4 bytes on the device");
    figure("fill_seconds", each([=] { OK(cudaMemsetAsync(there, 0, 4, 0)); }), "each of many fills of 4 bytes");
    OK(cudaFree(there));
    OK(cudaFree(other));
    OK(cudaFreeHost(pinned));
    free(pageable);
    return bus;
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

// Follows `steps` pointers, past the L1 cache.
__global__ void follow(const unsigned *next, int steps, unsigned *out)
{
    unsigned at = 0;
    for (int i = 0; i < steps; i++)
        at = __ldcg(next + at);
    *out = at;
}

// One lane of this GPU follows pointers through 512 KB of another's memory, each line once.
static double link_load_seconds(unsigned *there, unsigned *out)
{
    const unsigned LINES = 4096, WORDS = 32;
    std::vector<unsigned> next(LINES * WORDS);
    for (unsigned i = 0; i < LINES; i++)
        next[i * WORDS] = (i + 1) % LINES * WORDS;
    OK(cudaMemcpy(there, next.data(), next.size() * sizeof next[0], cudaMemcpyDefault));
    auto time = [=](int steps) {
        return seconds([=] { follow<<<1, 1>>>(there, steps, out); });
    };
    return (time(LINES) - time(LINES / 4)) / (LINES - LINES / 4);
}

// Between the first two GPUs; where there is one, half of what the host's bus moves.
static void measure_link(double bus)
{
    size_t bytes = (size_t)1 << 28;
    int count, can = 0;
    OK(cudaGetDeviceCount(&count));
    heading("Other devices");
    figure("nccl_call_seconds", 6.0203e-6, "not measured: what an H200's host takes for ncclAllReduce() in a group");
    if (count > 1)
        OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        figure("link_bytes_per_second", bus / 2, "not measured: there is no second GPU. Over the host, as a guess");
        figure("link_seconds", 2e-6, "a guess");
        figure("link_load_seconds", 2e-6, "a guess");
        return;
    }
    char *here = allocate<char>(bytes), *there;
    OK(cudaSetDevice(1));
    there = allocate<char>(bytes);
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    auto time = [=](size_t n) {
        return seconds([=] { OK(cudaMemcpyPeerAsync(there, 1, here, 0, n)); });
    };
    double large = time(bytes), small = time(4);
    figure("link_bytes_per_second", bytes / (large - small), "256 MB copied to the next GPU");
    figure("link_seconds", small, "4 bytes copied to the next GPU, between events");
    figure("link_load_seconds", link_load_seconds((unsigned *)there, (unsigned *)here),
           "one lane follows pointers through the next GPU's memory");
    OK(cudaFree(here));
    OK(cudaFree(there));
}

void measure_host()
{
    measure_launches();
    measure_link(measure_copies());
    measure_managed();
}
