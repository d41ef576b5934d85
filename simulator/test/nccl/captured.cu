// Operations of NCCL that are captured: each device's stream into a graph of its own, which are launched again and again, in whatever
// order; all streams into one graph; and by threads. What NCCL can't capture, it refuses.
#include "../programs/check.h"
#include <nccl.h>
#include <string.h>
#include <thread>
#include <vector>

#define NCCL(call) CHECK((call) == ncclSuccess)

enum { P = 3, N = 777 };

static ncclComm_t comm[P];
static cudaStream_t stream[P];
static int *in[P], *out[P];
static cudaGraphExec_t exec[P];

__global__ void set(int *a, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < P * N)
        a[i] = value + i;
}

__global__ void twice(int *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        a[i] *= 2;
}

static void begin(int r, cudaStreamCaptureMode mode)
{
    OK(cudaSetDevice(r));
    OK(cudaStreamBeginCapture(stream[r], mode));
}

static cudaGraph_t end(int r)
{
    cudaGraph_t graph;
    OK(cudaSetDevice(r));
    OK(cudaStreamEndCapture(stream[r], &graph));
    return graph;
}

static void instantiate(int r, cudaGraph_t graph)
{
    OK(cudaSetDevice(r));
    OK(cudaGraphInstantiate(&exec[r], graph, 0));
    OK(cudaGraphDestroy(graph));
}

// What each rank has received, element i.
typedef int Expected(int round, int r, int i);

static void run(Expected *expected, int count)
{
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < P; k++) {
            int r = (k + round) % P;
            OK(cudaSetDevice(r));
            set<<<P * N / 128 + 1, 128, 0, stream[r]>>>(in[r], round + 1000 * r);
            if (exec[r]) OK(cudaGraphLaunch(exec[r], stream[r]));
        }
        std::vector<int> host(count);
        for (int r = 0; r < P; r++) {
            OK(cudaMemcpyAsync(host.data(), out[r], count * sizeof(int), cudaMemcpyDeviceToHost, stream[r]));
            OK(cudaStreamSynchronize(stream[r]));
            for (int i = 0; i < count; i++)
                CHECK(host[i] == expected(round, r, i));
        }
    }
    for (int r = 0; r < P; r++)
        if (exec[r]) OK(cudaGraphExecDestroy(exec[r]));
    memset(exec, 0, sizeof exec);
}

template <typename Calls> static void apart(cudaStreamCaptureMode mode, Calls calls, Expected *expected, int count)
{
    cudaGraph_t graph[P];
    for (int r = 0; r < P; r++)
        begin(r, mode);
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++)
        calls(r);
    NCCL(ncclGroupEnd());
    for (int r = 0; r < P; r++)
        graph[r] = end(r);
    for (int r = 0; r < P; r++)
        instantiate(r, graph[r]);
    run(expected, count);
}

static int sum(int round, int, int i) { return P * (round + i) + 1000 * (P * (P - 1) / 2); }
static int sum_twice(int round, int, int i) { return 2 * sum(round, 0, i); }
static int of_last(int round, int, int i) { return round + 1000 * (P - 1) + i; }
static int of_one_before(int round, int r, int i) { return round + 1000 * ((r + P - 1) % P) + i; }
static int part_of_sum(int round, int r, int i) { return sum(round, r, r * N + i); }

static void all_reduce(int r)
{
    OK(cudaSetDevice(r));
    NCCL(ncclAllReduce(in[r], out[r], N, ncclInt32, ncclSum, comm[r], stream[r]));
}

// Work before and behind, and two operations.
static void several(int r)
{
    NCCL(ncclReduce(in[r], out[r], N, ncclInt32, ncclSum, 1, comm[r], stream[r]));
    NCCL(ncclBroadcast(out[r], out[r], N, ncclInt32, 1, comm[r], stream[r]));
}

static void round_the_ring(int r)
{
    NCCL(ncclSend(in[r], N, ncclInt32, (r + 1) % P, comm[r], stream[r]));
    NCCL(ncclRecv(out[r], N, ncclInt32, (r + P - 1) % P, comm[r], stream[r]));
}

static void with_work_behind()
{
    for (int r = 0; r < P; r++)
        begin(r, cudaStreamCaptureModeRelaxed);
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++)
        all_reduce(r);
    NCCL(ncclGroupEnd());
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        twice<<<N / 128 + 1, 128, 0, stream[r]>>>(out[r]);
    }
    for (int r = 0; r < P; r++)
        instantiate(r, end(r)); // relaxed: while others are captured
    run(sum_twice, N);
}

// All streams are captured into one graph.
static void together()
{
    cudaEvent_t fork, join[P];
    OK(cudaSetDevice(0));
    OK(cudaEventCreate(&fork));
    begin(0, cudaStreamCaptureModeGlobal);
    OK(cudaEventRecord(fork, stream[0]));
    for (int r = 1; r < P; r++) {
        OK(cudaSetDevice(r));
        OK(cudaEventCreate(&join[r]));
        OK(cudaStreamWaitEvent(stream[r], fork, 0));
    }
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++)
        all_reduce(r);
    NCCL(ncclGroupEnd());
    for (int r = 1; r < P; r++) {
        OK(cudaSetDevice(r));
        OK(cudaEventRecord(join[r], stream[r]));
        OK(cudaSetDevice(0));
        OK(cudaStreamWaitEvent(stream[0], join[r], 0));
        OK(cudaEventDestroy(join[r]));
    }
    instantiate(0, end(0));
    OK(cudaEventDestroy(fork));
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        set<<<P * N / 128 + 1, 128, 0, stream[r]>>>(in[r], 1000 * r);
        OK(cudaStreamSynchronize(stream[r]));
    }
    OK(cudaSetDevice(0));
    OK(cudaGraphLaunch(exec[0], stream[0]));
    OK(cudaStreamSynchronize(stream[0]));
    std::vector<int> host(N);
    for (int r = 0; r < P; r++) {
        OK(cudaMemcpy(host.data(), out[r], N * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++)
            CHECK(host[i] == sum(0, r, i));
    }
    OK(cudaGraphExecDestroy(exec[0]));
    exec[0] = nullptr;
}

static void by_threads()
{
    std::vector<std::thread> threads;
    for (int r = 0; r < P; r++)
        threads.emplace_back([r] {
            begin(r, cudaStreamCaptureModeThreadLocal);
            all_reduce(r);
            instantiate(r, end(r));
        });
    for (std::thread &t : threads)
        t.join();
    run(sum, N);
}

// How long a captured all-reduce takes, in microseconds.
static double time_of(size_t bytes)
{
    float *large[P], ms;
    cudaEvent_t from, to;
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        OK(cudaMalloc(&large[r], bytes));
        OK(cudaMemset(large[r], 0, bytes));
        OK(cudaDeviceSynchronize());
    }
    for (int r = 0; r < P; r++)
        begin(r, cudaStreamCaptureModeRelaxed);
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++)
        NCCL(ncclAllReduce(large[r], large[r], bytes / sizeof(float), ncclFloat, ncclSum, comm[r], stream[r]));
    NCCL(ncclGroupEnd());
    for (int r = 0; r < P; r++)
        instantiate(r, end(r));
    OK(cudaSetDevice(0));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from, stream[0]));
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        OK(cudaGraphLaunch(exec[r], stream[r]));
    }
    OK(cudaEventRecord(to, stream[0]));
    for (int r = 0; r < P; r++) {
        OK(cudaStreamSynchronize(stream[r]));
        OK(cudaGraphExecDestroy(exec[r]));
        OK(cudaFree(large[r]));
        exec[r] = nullptr;
    }
    OK(cudaEventElapsedTime(&ms, from, to));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return 1e3 * ms;
}

// One stream is captured, and the others are not.
static void refused()
{
    cudaGraph_t graph;
    begin(1, cudaStreamCaptureModeRelaxed);
    NCCL(ncclGroupStart());
    for (int r = 0; r < P; r++)
        all_reduce(r);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    graph = end(1);
    OK(cudaGraphDestroy(graph));
}

int main()
{
    NCCL(ncclCommInitAll(comm, P, NULL));
    for (int r = 0; r < P; r++) {
        OK(cudaSetDevice(r));
        OK(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
        OK(cudaMalloc(&in[r], P * N * sizeof(int)));
        OK(cudaMalloc(&out[r], P * N * sizeof(int)));
    }
    apart(cudaStreamCaptureModeThreadLocal, all_reduce, sum, N);
    apart(cudaStreamCaptureModeGlobal, several, sum, N);
    apart(cudaStreamCaptureModeGlobal, round_the_ring, of_one_before, N);
    apart(
        cudaStreamCaptureModeRelaxed,
        [](int r) { NCCL(ncclReduceScatter(in[r], out[r], N, ncclInt32, ncclSum, comm[r], stream[r])); },
        part_of_sum, N);
    apart(
        cudaStreamCaptureModeRelaxed,
        [](int r) { NCCL(ncclBroadcast(in[r], out[r], N, ncclInt32, P - 1, comm[r], stream[r])); }, of_last, N);
    with_work_behind();
    together();
    by_threads();
    double half = time_of(8 << 20), large = time_of(16 << 20);
    printf("captured: all-reduce of 8 MiB %.1f us, of 16 MiB %.1f us\n", half, large);
    CHECK(large - half > 28); // 2 (P - 1) / P of 8 MiB cross a link of 396 GB/s
    refused();
    for (int r = 0; r < P; r++) {
        NCCL(ncclCommDestroy(comm[r]));
        OK(cudaSetDevice(r));
        OK(cudaStreamDestroy(stream[r]));
        OK(cudaFree(in[r]));
        OK(cudaFree(out[r]));
    }
    return 0;
}
