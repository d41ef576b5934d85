// expect: exit 0
// run: --devices 3
// A machine with three devices: which one is current is each thread's own matter; memory, streams, events, kernels and
// variables are a device's. The errors are those that the CUDA guide names ("Multi-Device System").
#include "check.h"
#include <pthread.h>
#include <string.h>

__device__ int counter = 5;
__managed__ int shared_by_all = 1;

__global__ void add(int n) { counter += n; shared_by_all += n; }
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }

static int current()
{
    int device = -1;
    OK(cudaGetDevice(&device));
    return device;
}

static void *other_thread(void *)
{
    CHECK(current() == 0);
    OK(cudaSetDevice(1));
    CHECK(current() == 1);
    return NULL;
}

static void choosing()
{
    int count, valid[] = { 1, 2 };
    pthread_t thread;
    cudaDeviceProp p;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 3 && current() == 0);
    OK(cudaSetDevice(2));
    OK(pthread_create(&thread, NULL, other_thread, NULL) == 0 ? cudaSuccess : cudaErrorUnknown);
    pthread_join(thread, NULL);
    CHECK(current() == 2);
    CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice && cudaSetDevice(-1) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice && current() == 2);
    OK(cudaGetDeviceProperties(&p, 0));
    OK(cudaChooseDevice(&count, &p));
    CHECK(count == 0);
    OK(cudaSetValidDevices(valid, 2));
    CHECK(current() == 2);
    valid[1] = 3;
    CHECK(cudaSetValidDevices(valid, 2) == cudaErrorInvalidDevice);
    OK(cudaSetValidDevices(NULL, 0));
    CHECK(cudaGetDeviceProperties(&p, 3) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

static void identities()
{
    cudaDeviceProp p[3];
    char id[3][16];
    for (int d = 0; d < 3; d++) {
        int bus, found = -1;
        OK(cudaGetDeviceProperties(&p[d], d));
        OK(cudaDeviceGetPCIBusId(id[d], sizeof id[d], d));
        OK(cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, d));
        CHECK(bus == p[d].pciBusID && (int)strtol(id[d] + 5, NULL, 16) == bus);
        OK(cudaDeviceGetByPCIBusId(&found, id[d]));
        CHECK(found == d);
        OK(cudaDeviceGetByPCIBusId(&found, id[d] + 5));         // without the domain
        CHECK(found == d);
        for (int e = 0; e < d; e++)
            CHECK(memcmp(&p[d].uuid, &p[e].uuid, sizeof p[d].uuid) != 0 && strcmp(id[d], id[e]) != 0);
    }
    int found;
    char small[12];
    CHECK(cudaDeviceGetByPCIBusId(&found, "0000:ff:00.0") == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetPCIBusId(small, sizeof small, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
}

static size_t free_on(int device)
{
    size_t available, total;
    OK(cudaSetDevice(device));
    OK(cudaMemGetInfo(&available, &total));
    return available;
}

static void memory()
{
    int *p, *q;
    cudaPointerAttributes attributes;
    size_t before0 = free_on(0), before1 = free_on(1);
    OK(cudaMalloc(&p, 1 << 20));
    CHECK(free_on(1) == before1 - (1 << 20) && free_on(0) == before0);
    OK(cudaPointerGetAttributes(&attributes, p + 1));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 1);
    OK(cudaMallocHost(&q, 100));
    OK(cudaPointerGetAttributes(&attributes, q));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.device == 0);
    OK(cudaFreeHost(q));
    OK(cudaFree(p));                    // of another device than the current one
    CHECK(free_on(1) == before1);
}

static void streams_and_events()
{
    cudaStream_t s0, s1;
    cudaEvent_t e0, e1, f1;
    float ms;
    int *p1;
    OK(cudaSetDevice(0));
    OK(cudaStreamCreate(&s0));
    OK(cudaEventCreate(&e0));
    OK(cudaSetDevice(1));
    OK(cudaStreamCreate(&s1));
    OK(cudaEventCreate(&e1));
    OK(cudaEventCreate(&f1));
    OK(cudaMalloc(&p1, 128));
    int *p0, value;
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&p0, 128));
    OK(cudaSetDevice(1));
    fill<<<1, 32, 0, s0>>>(p0);         // device 1 is current, the stream is device 0's: so is the kernel
    OK(cudaGetLastError());
    OK(cudaStreamSynchronize(s0));
    OK(cudaMemcpy(&value, p0 + 31, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 31);
    OK(cudaFree(p0));
    OK(cudaMemsetAsync(p1, 0, 128, s1));
    fill<<<1, 32, 0, s1>>>(p1);
    OK(cudaGetLastError());
    CHECK(cudaEventRecord(e1, s0) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(e0, 0) == cudaErrorInvalidResourceHandle);   // the current device's default stream
    OK(cudaSetDevice(0));
    OK(cudaEventRecord(e1, s1));
    OK(cudaEventRecord(e0, 0));
    CHECK(cudaEventElapsedTime(&ms, e0, e1) == cudaErrorInvalidResourceHandle);
    OK(cudaStreamWaitEvent(s0, e1, 0));
    OK(cudaEventRecord(e0, s0));
    int host[32];
    OK(cudaMemcpyAsync(host, p1, 128, cudaMemcpyDeviceToHost, s0));    // a copy may use any stream
    OK(cudaStreamSynchronize(s1));
    OK(cudaEventSynchronize(e1));
    OK(cudaStreamSynchronize(s0));
    CHECK(host[31] == 31);

    // A device's default stream waits for its own streams only.
    size_t bytes = 64 << 20;
    char *large;
    void *from;
    OK(cudaMalloc(&large, bytes));
    OK(cudaMallocHost(&from, bytes));
    OK(cudaSetDevice(1));
    OK(cudaEventRecord(e1, 0));
    OK(cudaMemcpyAsync(large, from, bytes, cudaMemcpyHostToDevice, s0));
    OK(cudaEventRecord(f1, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, e1, f1));
    CHECK(ms < 0.1f);
    OK(cudaEventRecord(f1, 0));
    OK(cudaEventSynchronize(f1));
    OK(cudaEventElapsedTime(&ms, e1, f1));
    CHECK(ms < 0.1f);                   // nor did cudaDeviceSynchronize wait for another device
    OK(cudaStreamWaitEvent(s1, e0, 0));
    OK(cudaSetDevice(0));
    OK(cudaEventRecord(e0, s0));
    OK(cudaStreamWaitEvent(s1, e0, 0));
    OK(cudaSetDevice(1));
    OK(cudaEventRecord(f1, s1));
    OK(cudaEventSynchronize(f1));
    OK(cudaEventElapsedTime(&ms, e1, f1));
    CHECK(ms > 1);                      // 64 MiB over the bus
    OK(cudaFreeHost(from));
    OK(cudaFree(large));
    OK(cudaFree(p1));
}

static int value()
{
    int v;
    OK(cudaMemcpyFromSymbol(&v, counter, sizeof v));
    return v;
}

static void variables()
{
    for (int d = 0; d < 3; d++) {
        OK(cudaSetDevice(d));
        add<<<1, 1>>>(d + 1);
        OK(cudaDeviceSynchronize());
    }
    CHECK(shared_by_all == 1 + 1 + 2 + 3);
    void *address[3];
    for (int d = 0; d < 3; d++) {
        cudaPointerAttributes attributes;
        OK(cudaSetDevice(d));
        CHECK(value() == 5 + d + 1);
        OK(cudaGetSymbolAddress(&address[d], counter));
        OK(cudaPointerGetAttributes(&attributes, address[d]));
        CHECK(attributes.device == d);
    }
    CHECK(address[0] != address[1] && address[1] != address[2]);
}

// What belongs to the other devices survives.
static void resetting()
{
    int *p0;
    cudaEvent_t e0, e1;
    OK(cudaSetDevice(0));
    OK(cudaMalloc(&p0, 128));
    OK(cudaEventCreate(&e0));
    OK(cudaSetDevice(1));
    OK(cudaEventCreate(&e1));
    OK(cudaDeviceReset());
    CHECK(cudaEventSynchronize(e1) == cudaErrorInvalidResourceHandle);
    OK(cudaEventSynchronize(e0));
    OK(cudaSetDevice(0));
    fill<<<1, 32>>>(p0);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p0));
}

// Each device has a legacy stream of its own, and that its attributes.
static void legacy_streams()
{
    cudaLaunchAttributeValue wait = {}, got;
    wait.syncPolicy = cudaSyncPolicySpin;
    OK(cudaSetDevice(1));
    OK(cudaStreamSetAttribute(0, cudaLaunchAttributeSynchronizationPolicy, &wait));
    OK(cudaSetDevice(0));
    OK(cudaStreamGetAttribute(0, cudaLaunchAttributeSynchronizationPolicy, &got));
    CHECK(got.syncPolicy != cudaSyncPolicySpin);
    OK(cudaSetDevice(1));
    OK(cudaStreamGetAttribute(0, cudaLaunchAttributeSynchronizationPolicy, &got));
    CHECK(got.syncPolicy == cudaSyncPolicySpin);
    OK(cudaSetDevice(0));
}

int main()
{
    choosing();
    legacy_streams();
    identities();
    memory();
    streams_and_events();
    variables();
    resetting();
    return 0;
}
