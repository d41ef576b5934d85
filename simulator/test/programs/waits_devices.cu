// expect: exit 0
// varies: the host polls
// run: --devices 4
// prints: handed over|added in one step|twice|a thread for each
// Kernels of several devices that wait for one another through flags in each other's memory, launched one after another by
// one thread, or each by a thread of its own.
#include "check.h"
#include "atomic.h"
#include <thread>

enum { DEVICES = 4, N = 4096, BLOCKS = 4, THREADS = 256 };

using Flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

struct Machine { float *in[DEVICES], *out[DEVICES]; int *flags[DEVICES]; };

__device__ static void wait_for(int *flag, int value)
{
    while (Flag(*flag).load(cuda::memory_order_acquire) < value) {}
}

// Each device tells all others that it is there, adds its part of all inputs, writes it to all outputs, and ends when all
// have: flags[d][block][of] counts the steps of device `of`.
__global__ void all_reduce(Machine m, int me, int step)
{
    int first = blockIdx.x * DEVICES, part = N / DEVICES;
    if (threadIdx.x < DEVICES) {
        Flag(m.flags[threadIdx.x][first + me]).store(2 * step + 1, cuda::memory_order_release);
        wait_for(&m.flags[me][first + threadIdx.x], 2 * step + 1);
    }
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < part; i += BLOCKS * THREADS) {
        float sum = 0;
        for (int d = 0; d < DEVICES; d++)
            sum += m.in[d][me * part + i];
        for (int d = 0; d < DEVICES; d++)
            m.out[d][me * part + i] = sum;
    }
    __syncthreads();
    if (threadIdx.x < DEVICES) {
        Flag(m.flags[threadIdx.x][first + me]).store(2 * step + 2, cuda::memory_order_release);
        wait_for(&m.flags[me][first + threadIdx.x], 2 * step + 2);
    }
}

__global__ void give(int *to, int *flag)
{
    to[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        Flag(*flag).store(1, cuda::memory_order_release);
}

__global__ void take(const int *from, int *flag, int *sum)
{
    if (threadIdx.x == 0)
        wait_for(flag, 1);
    __syncthreads();
    atomicAdd(sum, from[threadIdx.x]);
}

static void open(Machine *m)
{
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        for (int o = 0; o < DEVICES; o++)
            if (o != d)
                OK(cudaDeviceEnablePeerAccess(o, 0));
        OK(cudaMalloc(&m->in[d], N * sizeof(float)));
        OK(cudaMalloc(&m->out[d], N * sizeof(float)));
        OK(cudaMalloc(&m->flags[d], BLOCKS * DEVICES * sizeof(int)));
        OK(cudaMemset(m->flags[d], 0, BLOCKS * DEVICES * sizeof(int)));
        static float host[N];
        for (int i = 0; i < N; i++)
            host[i] = (float)(i % 97 + d);
        OK(cudaMemcpy(m->in[d], host, sizeof host, cudaMemcpyHostToDevice));
        OK(cudaDeviceSynchronize());
    }
}

static void close(Machine *m)
{
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaFree(m->in[d]));
        OK(cudaFree(m->out[d]));
        OK(cudaFree(m->flags[d]));
    }
}

static void hand_over(const Machine *m)
{
    int host = 0, *sum, *data = (int *)m->out[0];
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&sum, sizeof host));
    OK(cudaMemset(sum, 0, sizeof host));
    take<<<1, 32>>>(data, m->flags[0], sum);
    OK(cudaSetDevice(1));
    give<<<1, 32>>>(data, m->flags[0]);
    OK(cudaSetDevice(0));
    OK(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host == 31 * 16);
    OK(cudaFree(sum));
    OK(cudaMemset(m->flags[0], 0, sizeof host));
    OK(cudaDeviceSynchronize());
    OK(cudaSetDevice(1));
    OK(cudaDeviceSynchronize());
    puts("handed over");
}

static void compare(const Machine *m)
{
    static float host[N];
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(host, m->out[d], sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++)
            CHECK(host[i] == DEVICES * (i % 97) + DEVICES * (DEVICES - 1) / 2);
        OK(cudaMemset(m->out[d], 0, sizeof host));
        OK(cudaDeviceSynchronize());
    }
}

int main()
{
    Machine m;
    open(&m);
    hand_over(&m);
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        all_reduce<<<BLOCKS, THREADS>>>(m, d, 0);
    }
    compare(&m);
    puts("added in one step");
    for (int d = 0; d < DEVICES; d++) {             // the second step's launches come behind kernels that wait
        OK(cudaSetDevice(d));
        all_reduce<<<BLOCKS, THREADS>>>(m, d, 1);
        all_reduce<<<BLOCKS, THREADS>>>(m, d, 2);
    }
    compare(&m);
    puts("twice");
    std::thread threads[DEVICES];
    for (int d = 0; d < DEVICES; d++)
        threads[d] = std::thread([=] {
            OK(cudaSetDevice(d));
            all_reduce<<<BLOCKS, THREADS>>>(m, d, 3);
            OK(cudaDeviceSynchronize());
        });
    for (int d = 0; d < DEVICES; d++)
        threads[d].join();
    compare(&m);
    puts("a thread for each");
    close(&m);
}
