// expect: RACE
// at: CHECK(cudaMemcpyPeerAsync(out[right] + start, right, from + start, d,
// says: waits for nothing else. Next: Should both write there?
// Sends to a neighbour whose memory the caller may still be at work on.
#include "29-all-reduce.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
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
    for (int other = 0; other < count; other++) {
        int can = 0;
        if (other != device)
            CHECK(cudaDeviceCanAccessPeer(&can, device, other));
        if (can)
            CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
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

    for (int step = 0; step < devices - 1; step++) {
        for (int d = 0; d < devices; d++) {
            int c = (d - step + devices) % devices;
            send(out, step == 0 ? in[d] : out[d], d, c, n, devices);
        }
        for (int d = 0; d < devices; d++) {
            int c = (d - 1 - step + devices) % devices;
            wait_for_left(d, devices);
            add_own(out, in, d, c, n, devices);
        }
    }

    for (int step = 0; step < devices - 1; step++) {
        for (int d = 0; d < devices; d++) {
            int c = (d + 1 - step + devices) % devices;
            send(out, out[d], d, c, n, devices);
        }
        for (int d = 0; d < devices; d++)
            wait_for_left(d, devices);
    }
}

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    set_up();
    ring(out, in, n, devices);
}
