// Lesson 29: add up vectors that are on several devices, so that each device has the sum.
//
// The time is that of the bytes over the busiest link, and of the pieces of work that the host
// issues. Every device should send and receive all the time, in few pieces.
#include "29-all-reduce.h"

#include <stdio.h>
#include <stdlib.h>

// quick_exit() does not wait for the devices: a kernel there may be waiting
// for a kernel that was never launched.
#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            quick_exit(EXIT_FAILURE);                                \
        }                                                            \
    } while (0)

enum { MOST = 8 };       // devices
enum { THREADS = 256 };  // threads in a block
enum { BLOCKS = 264 };   // blocks that fill a device, twice 132

// Each device has a stream for all its work, and two events.
static cudaStream_t stream[MOST];
static cudaEvent_t ready[MOST], sent[MOST];

// Lets the current device reach the memory of all other devices.
static void reach_others(int device, int count)
{
    // TODO: where device can reach other, let it (7 lines)
}

// The first call sets up all devices of the machine, once.
static void set_up()
{
    static int count;
    if (count > 0)
        return;
    CHECK(cudaGetDeviceCount(&count));
    if (count > MOST)
        count = MOST;
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        reach_others(d, count);
        CHECK(cudaStreamCreate(&stream[d]));
        CHECK(cudaEventCreateWithFlags(&ready[d],
                                       cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&sent[d],
                                       cudaEventDisableTiming));
    }
}

__global__ void add(float *sum, const float *x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        sum[i] += x[i];
}

static int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

// Version 1: device 0 adds everything and hands out the sum.
void star(float *const *out, const float *const *in, int n, int devices)
{
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());  // in[d] is there now
    }
    if (n == 0)
        return;

    size_t bytes = n * sizeof(float);
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyAsync(out[0], in[0], bytes,
                          cudaMemcpyDeviceToDevice, 0));
    for (int d = 1; d < devices; d++)
        add<<<blocks_for(n), THREADS>>>(out[0], in[d], n);
    CHECK(cudaGetLastError());
    for (int d = 1; d < devices; d++)
        CHECK(cudaMemcpyPeerAsync(out[d], d, out[0], 0, bytes, 0));
}

// The vector is cut into as many chunks as there are devices. Chunk c is
// from start_of(c) up to start_of(c + 1), of n / devices floats or one more.
static int start_of(int c, int n, int devices)
{
    return (int)((long long)n * c / devices);
}

// Sends chunk c of `from`, on device d, to the same place in the right
// neighbour's `out`, and marks the moment when it has arrived.
void send(float *const *out, const float *from, int d, int c, int n,
          int devices)
{
    int right = (d + 1) % devices;
    int start = start_of(c, n, devices);
    int count = start_of(c + 1, n, devices) - start;
    CHECK(cudaSetDevice(d));
    CHECK(cudaMemcpyPeerAsync(out[right] + start, right, from + start, d,
                              count * sizeof(float), stream[d]));
    CHECK(cudaEventRecord(sent[d], stream[d]));
}

// Device d goes on when its left neighbour's chunk has arrived.
void wait_for_left(int d, int devices)
{
    int left = (d + devices - 1) % devices;
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamWaitEvent(stream[d], sent[left], 0));
}

// Device d adds its own chunk c to what has arrived in its `out`.
void add_own(float *const *out, const float *const *in, int d, int c,
             int n, int devices)
{
    int start = start_of(c, n, devices);
    int count = start_of(c + 1, n, devices) - start;
    CHECK(cudaSetDevice(d));
    if (count > 0)  // a grid of no blocks is an error
        add<<<blocks_for(count), THREADS, 0, stream[d]>>>(
            out[d] + start, in[d] + start, count);
    CHECK(cudaGetLastError());
}

// Versions 2 and 3: twice around the ring, to add and to hand out.
void ring(float *const *out, const float *const *in, int n, int devices)
{
    if (devices == 1) {
        CHECK(cudaMemcpyAsync(out[0], in[0], n * sizeof(float),
                              cudaMemcpyDeviceToDevice, stream[0]));
        return;
    }

    // A device must not write to its neighbour while the neighbour still
    // does what the caller gave it to do before.
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventRecord(ready[d], stream[d]));
    }
    for (int d = 0; d < devices; d++) {
        int right = (d + 1) % devices;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(stream[d], ready[right], 0));
    }

    // Step 1: the two ways around the ring come here.

}

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    set_up();
    star(out, in, n, devices);
}
