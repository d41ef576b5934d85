// Lesson 29: add up vectors that lie on several devices, so that each device has the sum.
//
// What counts is bytes over links. In a ring every device sends and receives at the same time, all
// the time, and no byte crosses a link more often than it must.
#include "29-all-reduce.h"

#include <stdio.h>
#include <stdlib.h>

// quick_exit() waits for nobody: on a device a kernel may be waiting for
// one that was never launched.
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

// Of each device: a stream, in which all its work is issued, and two
// moments in it.
static cudaStream_t stream[MOST];
static cudaEvent_t ready[MOST], sent[MOST];

// Lets the current device reach the memory of all others.
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
static void star(float *const *out, const float *const *in, int n,
                 int devices)
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
    // TODO: where chunk c begins; that of c == devices is n (1 line)
    return 0;
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

// Device d adds its own chunk c to what lies in its `out`.
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

// Versions 2 and 3: round the ring, once to add and once to hand out.
static void ring(float *const *out, const float *const *in, int n,
                 int devices)
{
    if (devices == 1) {
        CHECK(cudaMemcpyAsync(out[0], in[0], n * sizeof(float),
                              cudaMemcpyDeviceToDevice, stream[0]));
        return;
    }

    // Nobody may write to a neighbour that is still busy with what the
    // caller gave it to do before.
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventRecord(ready[d], stream[d]));
    }
    for (int d = 0; d < devices; d++) {
        int right = (d + 1) % devices;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(stream[d], ready[right], 0));
    }

    // TODO: devices - 1 steps; all send, then all wait and add (10 lines)

    // TODO: devices - 1 steps more; nothing is added now (8 lines)
}

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    set_up();
    bool compare = false;  // true: version 1 instead
    if (compare)
        star(out, in, n, devices);
    else
        ring(out, in, n, devices);
}
