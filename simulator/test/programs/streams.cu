// expect: exit 0
// build: -default-stream per-thread
// Streams: what is known of them, which default stream is whose, and what of a device works at the same time.
#include "check.h"
#include <thread>

enum { BYTES = 8 << 20 };

__global__ void spin(int *p)
{
    for (int i = 0; i < 1000; i++)
        atomicAdd(p, 1);
}

static float between(cudaEvent_t a, cudaEvent_t b)
{
    float ms = -1;
    OK(cudaEventElapsedTime(&ms, a, b));
    return ms;
}

static bool near(float a, float b)       // but for the calls between
{
    return fabsf(a - b) < 0.05f * b;
}

static void facts(void)
{
    int least, greatest, priority, device;
    unsigned flags;
    unsigned long long id, other;
    cudaStream_t s, t;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest - 3));
    OK(cudaStreamGetPriority(s, &priority));
    OK(cudaStreamGetFlags(s, &flags));
    OK(cudaStreamGetDevice(s, &device));
    CHECK(priority == greatest && flags == cudaStreamNonBlocking && device == 0);
    OK(cudaStreamCreate(&t));
    OK(cudaStreamGetFlags(t, &flags));
    OK(cudaStreamGetPriority(t, &priority));
    CHECK(flags == cudaStreamDefault && priority == 0);
    OK(cudaStreamGetId(s, &id));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamGetId(s, &other));
    CHECK(id != other);
    CHECK(cudaStreamCreateWithFlags(&s, 2) == cudaErrorInvalidValue);
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    CHECK(cudaStreamDestroy(0) == cudaErrorInvalidResourceHandle);
}

// A copy each way and a kernel overlap; two copies the same way follow one another.
static void engines(void)
{
    cudaStream_t s[4];
    cudaEvent_t from, to[4];
    char *in, *out, *device;
    int *count;
    OK(cudaMallocHost(&in, BYTES));
    OK(cudaMallocHost(&out, BYTES));
    OK(cudaMalloc(&device, 3 * BYTES));
    OK(cudaMalloc(&count, sizeof *count));
    OK(cudaMemset(device, 0, 3 * BYTES));
    OK(cudaMemset(count, 0, sizeof *count));
    OK(cudaDeviceSynchronize());
    OK(cudaEventCreate(&from));
    for (int i = 0; i < 4; i++) {
        OK(cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking));
        OK(cudaEventCreate(&to[i]));
    }
    OK(cudaEventRecord(from, s[0]));
    OK(cudaMemcpyAsync(device, in, BYTES, cudaMemcpyHostToDevice, s[0]));
    OK(cudaMemcpyAsync(out, device + BYTES, BYTES, cudaMemcpyDeviceToHost, s[1]));
    OK(cudaMemcpyAsync(device + 2 * BYTES, in, BYTES, cudaMemcpyHostToDevice, s[2]));
    spin<<<1, 32, 0, s[3]>>>(count);
    for (int i = 0; i < 4; i++)
        OK(cudaEventRecord(to[i], s[i]));
    CHECK(cudaStreamQuery(s[2]) == cudaErrorNotReady);
    OK(cudaDeviceSynchronize());
    float one = between(from, to[0]);
    CHECK(one > 0.1f && near(between(from, to[1]), one) && near(between(from, to[2]), 2 * one));
    CHECK(between(from, to[3]) < one);
    for (int i = 0; i < 4; i++) {
        OK(cudaStreamDestroy(s[i]));
        OK(cudaEventDestroy(to[i]));
    }
    OK(cudaEventDestroy(from));
    OK(cudaFreeHost(in));
    OK(cudaFreeHost(out));
    OK(cudaFree(device));
    OK(cudaFree(count));
}

// Each thread has a default stream of its own; the legacy one waits for all.
static void threads(void)
{
    char *host, *device;
    unsigned long long mine, its = 0, legacy, named;
    cudaEvent_t from, to, legacy_to;
    OK(cudaMallocHost(&host, BYTES));
    OK(cudaMalloc(&device, 3 * BYTES));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventCreate(&legacy_to));
    OK(cudaStreamGetId(0, &mine));
    OK(cudaStreamGetId(cudaStreamPerThread, &named));
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    std::thread([&] {
        OK(cudaStreamGetId(0, &its));
        OK(cudaEventRecord(from));
        OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice));
    }).join();
    CHECK(mine == named && mine != legacy && mine != its && its != legacy);
    OK(cudaEventRecord(to));                                    // my stream does not wait for the thread's
    OK(cudaEventRecord(legacy_to, cudaStreamLegacy));
    OK(cudaDeviceSynchronize());
    CHECK(between(from, to) < 0.05f && between(from, legacy_to) > 0.1f);
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    OK(cudaEventDestroy(legacy_to));
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
}

int main()
{
    facts();
    engines();
    threads();
    return 0;
}
