// expect: exit 0
// varies: the host polls
// prints: the other stream's kernel helps|so does a copy|so does a fill|what comes behind it waits|there and back|not by the clock|the host helps|the host waits by itself|another thread helps
// Kernels that wait for work that is issued after them, on another stream: they finish, as on hardware, whether a kernel, a
// copy, a fill, the host or another thread lets them go on. What stream order puts behind them is put off.
#include "check.h"
#include "atomic.h"
#include <thread>
#include <unistd.h>

enum { N = 1000 };

using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

// One thread waits for all: nothing is read before the flag is there.
__global__ void consume(int *flag, int value, const int *data, int *sum)
{
    if (threadIdx.x == 0)
        while (Flag(*flag).load(cuda::memory_order_acquire) != value) {}
    __syncthreads();
    if (data)
        atomicAdd(sum, data[threadIdx.x]);
    else if (threadIdx.x == 0)
        *sum = value;
}

__global__ void produce(int *data, int *flag, int value)
{
    data[threadIdx.x] = threadIdx.x + value;
    __syncthreads();
    if (threadIdx.x == 0)
        Flag(*flag).store(value, cuda::memory_order_release);
}

__global__ void add(int *sum, int value) { *sum += value; }

// Takes the ball `rounds` times.
__global__ void play(int *ball, int me, int rounds)
{
    for (int n = 0; n < rounds; n++) {
        while (Flag(*ball).load(cuda::memory_order_acquire) % 2 != me) {}
        Flag(*ball).fetch_add(1, cuda::memory_order_acq_rel);
    }
}

// Gives up after a while by the clock.
__global__ void patient(int *flag, int *got)
{
    long long start = clock64();
    while (!Flag(*flag).load(cuda::memory_order_acquire) && clock64() - start < 4000000000) {}
    *got = Flag(*flag).load(cuda::memory_order_acquire);
}

// With a barrier in each turn of the wait.
__global__ void together(int *flag, int *sum)
{
    __shared__ int there;
    do {
        if (threadIdx.x == 0)
            there = Flag(*flag).load(cuda::memory_order_acquire);
        __syncthreads();
        int seen = there;
        __syncthreads();
        if (seen)
            break;
    } while (true);
    if (threadIdx.x == 0)
        *sum = there;
}

static cudaStream_t one, two;
static int *flag, *data, *sum;

static int result()
{
    int value;
    OK(cudaStreamSynchronize(one));
    OK(cudaMemcpy(&value, sum, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaMemset(flag, 0, sizeof *flag));
    OK(cudaMemset(sum, 0, sizeof *sum));
    OK(cudaDeviceSynchronize());
    return value;
}

// How often the simulator has a kernel look is no part of the time that it takes; that of those that it waits for is.
static void by_a_kernel()
{
    float waited, produced;
    cudaEvent_t at[4];
    for (int i = 0; i < 4; i++)
        OK(cudaEventCreate(&at[i]));
    OK(cudaEventRecord(at[0], one));
    consume<<<1, N, 0, one>>>(flag, 7, data, sum);
    OK(cudaEventRecord(at[1], one));
    OK(cudaEventRecord(at[2], two));
    produce<<<1, N, 0, two>>>(data, flag, 7);
    OK(cudaEventRecord(at[3], two));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&waited, at[0], at[1]));
    OK(cudaEventElapsedTime(&produced, at[2], at[3]));
    CHECK(produced > 0.002f && waited >= produced && waited < 0.02f);
    for (int i = 0; i < 4; i++)
        OK(cudaEventDestroy(at[i]));
    CHECK(result() == N * (N - 1) / 2 + 7 * N);
    together<<<1, 64, 0, one>>>(flag, sum);
    produce<<<1, N, 0, two>>>(data, flag, 9);
    OK(cudaStreamSynchronize(one));
    CHECK(result() == 9);
    puts("the other stream's kernel helps");
}

static void by_copies()
{
    static const int value = 5;
    consume<<<1, 32, 0, one>>>(flag, 5, nullptr, sum);
    OK(cudaMemcpyAsync(flag, &value, sizeof value, cudaMemcpyHostToDevice, two));
    OK(cudaStreamSynchronize(one));
    CHECK(result() == 5);
    puts("so does a copy");
    consume<<<1, 32, 0, one>>>(flag, 0x01010101, nullptr, sum);
    OK(cudaMemsetAsync(flag, 1, sizeof *flag, two));
    OK(cudaStreamSynchronize(one));
    CHECK(result() == 0x01010101);
    puts("so does a fill");
}

// All that is issued to the first stream before the flag is set.
static void behind()
{
    cudaEvent_t done, later;
    int *pinned, *kept, host[4] = { 1, 2, 3, 4 };
    OK(cudaEventCreate(&done));
    OK(cudaEventCreate(&later));
    OK(cudaMallocHost(&pinned, sizeof *pinned));
    OK(cudaMalloc(&kept, 4 << 20));
    *pinned = 0;
    OK(cudaEventRecord(later, one));
    consume<<<1, 32, 0, one>>>(flag, 3, nullptr, sum);
    add<<<1, 1, 0, one>>>(sum, 10);
    OK(cudaMemcpyAsync(pinned, sum, sizeof *sum, cudaMemcpyDeviceToHost, one));
    OK(cudaEventRecord(done, one));
    OK(cudaMemsetAsync(kept, 0, 4 << 20, one));
    OK(cudaMemcpyAsync(kept, host, sizeof host, cudaMemcpyHostToDevice, one));
    host[0] = 100;                      // the copy has read it
    OK(cudaStreamWaitEvent(two, later));
    CHECK(cudaStreamQuery(one) == cudaErrorNotReady);
    CHECK(cudaEventQuery(done) == cudaErrorNotReady);
    CHECK(*pinned == 0);
    produce<<<1, N, 0, two>>>(data, flag, 3);
    OK(cudaStreamWaitEvent(two, done));
    add<<<1, 1, 0, two>>>(sum, 100);
    OK(cudaEventRecord(later, two));
    OK(cudaEventSynchronize(later));
    CHECK(*pinned == 13);
    float ms;
    OK(cudaEventElapsedTime(&ms, done, later));
    CHECK(ms > 0 && ms < 1);
    CHECK(cudaStreamQuery(one) == cudaSuccess || cudaStreamSynchronize(one) == cudaSuccess);
    OK(cudaMemcpy(host, kept, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1 && host[3] == 4);
    CHECK(result() == 113);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(kept));
    OK(cudaEventDestroy(done));
    OK(cudaEventDestroy(later));
    puts("what comes behind it waits");
}

static void there_and_back()
{
    play<<<1, 1, 0, one>>>(sum, 1, 50);
    play<<<1, 1, 0, two>>>(sum, 0, 50);
    OK(cudaStreamSynchronize(two));
    CHECK(result() == 100);
    puts("there and back");
}

static void by_the_clock()
{
    patient<<<1, 1, 0, one>>>(flag, sum);
    produce<<<1, N, 0, two>>>(data, flag, 4);
    CHECK(result() == 4);
    puts("not by the clock");
}

static void by_the_host()
{
    volatile int *here;
    int *there;
    OK(cudaHostAlloc((void **)&here, sizeof *here, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&there, (void *)here, 0));
    *here = 0;
    consume<<<1, 32, 0, one>>>(there, 6, nullptr, sum);
    OK(cudaMemsetAsync(data, 0, sizeof *data, two));
    OK(cudaStreamQuery(two) == cudaSuccess ? cudaSuccess : cudaStreamSynchronize(two));
    *here = 6;
    OK(cudaStreamSynchronize(one));
    CHECK(result() == 6);
    puts("the host helps");
    *here = 0;
    add<<<1, 1, 0, one>>>(there, 8);
    while (*here != 8) {}
    *here = 0;
    consume<<<1, 32, 0, one>>>(there, 2, nullptr, there);
    usleep(300000);
    *here = 2;
    OK(cudaStreamSynchronize(one));
    puts("the host waits by itself");
    OK(cudaFreeHost((void *)here));
}

static void by_a_thread()
{
    std::thread waits([] {
        consume<<<1, N, 0, one>>>(flag, 7, data, sum);
        OK(cudaStreamSynchronize(one));
    });
    std::thread helps([] {
        usleep(50000);
        produce<<<1, N, 0, two>>>(data, flag, 7);
        OK(cudaStreamSynchronize(two));
    });
    waits.join();
    helps.join();
    CHECK(result() == N * (N - 1) / 2 + 7 * N);
    puts("another thread helps");
}

int main()
{
    OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&two));
    OK(cudaMalloc(&flag, sizeof *flag));
    OK(cudaMalloc(&data, N * sizeof *data));
    OK(cudaMalloc(&sum, sizeof *sum));
    OK(cudaMemset(flag, 0, sizeof *flag));
    OK(cudaMemset(sum, 0, sizeof *sum));
    OK(cudaDeviceSynchronize());
    by_a_kernel();
    by_copies();
    behind();
    there_and_back();
    by_the_clock();
    by_the_host();
    by_a_thread();
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaFree(flag));
    OK(cudaFree(data));
    OK(cudaFree(sum));
}
