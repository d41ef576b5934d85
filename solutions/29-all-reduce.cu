// Lesson 29: add up vectors that are on several devices, so that each device has the sum.
//
// The time is that of the bytes over the busiest link, and of the pieces of work that the host
// issues. Every device should send and receive all the time, in few pieces.
#include "29-all-reduce.h"

#include <stdio.h>
#include <stdlib.h>
//> atomic TODO:
#include <atomic>
#include <cuda/atomic>
#include <pthread.h>
#include <string.h>
//< atomic

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

//> version TODO:
#ifndef VERSION
#define VERSION 6  // what `all_reduce` uses; 2 is 3 in default streams
#endif
//< version

// Each device has a stream for all its work, and two events.
static cudaStream_t stream[MOST];
static cudaEvent_t ready[MOST], sent[MOST];

//> peers
// Lets the current device reach the memory of all other devices.
static void reach_others(int device, int count)
{
    //> reach TODO: where device can reach other, let it (7 lines)
    for (int other = 0; other < count; other++) {
        int can = 0;
        if (other != device)
            CHECK(cudaDeviceCanAccessPeer(&can, device, other));
        if (can)
            CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
    //< reach
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
        //> plain TODO:
        if (VERSION == 3 || VERSION == 4)
        //< plain
        CHECK(cudaStreamCreate(&stream[d]));
        CHECK(cudaEventCreateWithFlags(&ready[d],
                                       cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&sent[d],
                                       cudaEventDisableTiming));
    }
}
//< peers

//> add
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
//< add

//> star
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
//< star

//> chunk
// The vector is cut into as many chunks as there are devices. Chunk c is
// from start_of(c) up to start_of(c + 1), of n / devices floats or one more.
static int start_of(int c, int n, int devices)
{
    //> start
    return (int)((long long)n * c / devices);
    //< start
}
//< chunk

//> send
// Sends chunk c of `from`, on device d, to the same place in the right
// neighbour's `out`, and marks the moment when it has arrived.
void send(float *const *out, const float *from, int d, int c, int n,
          int devices)
{
    int right = (d + 1) % devices;
    int start = start_of(c, n, devices);
    int count = start_of(c + 1, n, devices) - start;
    CHECK(cudaSetDevice(d));
    //> send-chunk
    CHECK(cudaMemcpyPeerAsync(out[right] + start, right, from + start, d,
                              count * sizeof(float), stream[d]));
    //< send-chunk
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
    //> add-chunk
    if (count > 0)  // a grid of no blocks is an error
        add<<<blocks_for(count), THREADS, 0, stream[d]>>>(
            out[d] + start, in[d] + start, count);
    //< add-chunk
    CHECK(cudaGetLastError());
}
//< send

//> ring
// Versions 2 and 3: twice around the ring, to add and to hand out.
void ring(float *const *out, const float *const *in, int n, int devices)
{
    if (devices == 1) {
        //> copy-alone
        CHECK(cudaMemcpyAsync(out[0], in[0], n * sizeof(float),
                              cudaMemcpyDeviceToDevice, stream[0]));
        //< copy-alone
        return;
    }

    // A device must not write to its neighbour while the neighbour still
    // does what the caller gave it to do before.
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventRecord(ready[d], stream[d]));
    }
    //> neighbour-ready
    for (int d = 0; d < devices; d++) {
        int right = (d + 1) % devices;
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(stream[d], ready[right], 0));
    }
    //< neighbour-ready

    //> scatter TODO:
    //| // Step 1: the two ways around the ring come here.
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
    //< scatter

    //> gather TODO:
    for (int step = 0; step < devices - 1; step++) {
        for (int d = 0; d < devices; d++) {
            int c = (d + 1 - step + devices) % devices;
            send(out, out[d], d, c, n, devices);
        }
        for (int d = 0; d < devices; d++)
            wait_for_left(d, devices);
    }
    //< gather
}
//< ring

//> direct TODO:
struct Arrays {
    float *of[MOST];  // a pointer for each device
};

// Version 4: each device adds one chunk. It reads the chunk from the memory
// of all devices, and stores the sums in the memory of all devices.
__global__ void add_for_all(Arrays out, Arrays in, int from, int to,
                            int devices)
{
    int i = from + blockIdx.x * THREADS + threadIdx.x;
    for (; i < to; i += gridDim.x * THREADS) {
        float sum = in.of[0][i];
        for (int d = 1; d < devices; d++)
            sum += in.of[d][i];
        for (int d = 0; d < devices; d++)
            out.of[d][i] = sum;
    }
}
//< direct

//> all-wait TODO:
// Each device's stream goes on when all devices' streams have come so far.
static void wait_for_all(int devices)
{
    for (int d = 0; d < devices; d++)
        CHECK(cudaEventRecord(ready[d], stream[d]));
    for (int d = 0; d < devices; d++)
        for (int other = 0; other < devices; other++)
            if (other != d)
                CHECK(cudaStreamWaitEvent(stream[d], ready[other], 0));
}

static void direct(Arrays out, Arrays in, int n, int devices)
{
    wait_for_all(devices);
    for (int d = 0; d < devices; d++) {
        //> share
        int from = start_of(d, n, devices);
        int to = start_of(d + 1, n, devices);
        //< share
        int blocks = blocks_for(to - from);
        if (blocks == 0)
            continue;
        CHECK(cudaSetDevice(d));
        add_for_all<<<blocks < BLOCKS ? blocks : BLOCKS, THREADS, 0,
                      stream[d]>>>(out, in, from, to, devices);
        CHECK(cudaGetLastError());
    }
    wait_for_all(devices);
}
//< all-wait

//> flags TODO:
typedef cuda::atomic_ref<unsigned, cuda::thread_scope_system> Flag;

// Every device's flags: the number of the call in which block b of device d
// has come to its first meeting, and to its second.
struct Flags {
    unsigned (*of[MOST])[BLOCKS][MOST];
};
static Flags flags;

// Peer access reaches memory from cudaMalloc, not __device__ variables.
static void make_flags(int device)
{
    size_t bytes = 2 * sizeof *flags.of[device];
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&flags.of[device], bytes));
    CHECK(cudaMemset(flags.of[device], 0, bytes));
    CHECK(cudaDeviceSynchronize());  // before others store their flags
}

static void free_flags()
{
    for (int d = 0; d < MOST; d++)
        cudaFree(flags.of[d]);
}

// Block b of each device waits here for block b of all other devices. What
// its threads stored before, the other blocks' threads can read afterwards.
__device__ void meet(Flags all, int phase, unsigned call, int device,
                     int devices)
{
    __syncthreads();
    if (threadIdx.x < devices) {
        //> own-flags
        int other = threadIdx.x, b = blockIdx.x;
        Flag theirs(all.of[other][phase][b][device]);
        Flag ours(all.of[device][phase][b][other]);
        //< own-flags
        theirs.store(call, cuda::memory_order_release);
        while (ours.load(cuda::memory_order_acquire) != call) {
        }
    }
    __syncthreads();
}
//< flags

//> fours TODO:
// Version 5: as version 4, four floats at a time. Flags replace the events.
__global__ void add_for_all_flags(Arrays out, Arrays in, int n,
                                  int device, int devices, Flags flags,
                                  unsigned call)
{
    meet(flags, 0, call, device, devices);

    int fours = n / 4;
    int from = (int)((long long)fours * device / devices);
    int to = (int)((long long)fours * (device + 1) / devices);
    int t = blockIdx.x * THREADS + threadIdx.x;
    for (int i = from + t; i < to; i += gridDim.x * THREADS) {
        float4 sum = ((const float4 *)in.of[0])[i];
        for (int d = 1; d < devices; d++) {
            float4 x = ((const float4 *)in.of[d])[i];
            sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
        }
        for (int d = 0; d < devices; d++)
            ((float4 *)out.of[d])[i] = sum;
    }
    int last = 4 * fours + t;  // up to three are left, for device 0
    if (device == 0 && last < n) {
        float sum = in.of[0][last];
        for (int d = 1; d < devices; d++)
            sum += in.of[d][last];
        for (int d = 0; d < devices; d++)
            out.of[d][last] = sum;
    }

    //> meet-again
    meet(flags, 1, call, device, devices);
    //< meet-again
}

static void one_launch(Arrays out, Arrays in, int n, int devices)
{
    static unsigned call;
    if (call == 0)
        atexit(free_flags);
    for (int d = 0; d < devices; d++)
        if (!flags.of[d])
            make_flags(d);
    call++;

    int blocks = blocks_for(n / 4 / devices + 1);
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        add_for_all_flags<<<blocks < BLOCKS ? blocks : BLOCKS, THREADS>>>(
            out, in, n, d, devices, flags, call);
        CHECK(cudaGetLastError());
    }
}
//< fours

//> letters TODO:
// Version 6, for small vectors: each float travels with the number of the
// call, in one store of 8 bytes. A thread that sees the number has the float.
enum { SMALL = 4096 };  // floats at most

typedef unsigned long long Letter;  // the number above, the float below
typedef cuda::atomic_ref<Letter, cuda::thread_scope_system> Box;

// Every device's boxes: one for each float of each sender. There are two
// sets, because a sender can be one call ahead.
struct Boxes {
    Letter (*of[MOST])[MOST][SMALL];
};
static Boxes boxes;

__global__ void send_to_all(float *out, const float *in, int n,
                            int device, int devices, Boxes boxes,
                            unsigned call)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;

    float own = in[i];
    Letter letter = (Letter)call << 32 | __float_as_uint(own);
    for (int d = 0; d < devices; d++)
        if (d != device)
            //> their-box
            Box(boxes.of[d][call % 2][device][i])
            //< their-box
                .store(letter, cuda::memory_order_relaxed);

    float sum = 0;
    for (int d = 0; d < devices; d++) {
        float x = own;
        if (d != device) {
            //> own-box
            Box box(boxes.of[device][call % 2][d][i]);
            //< own-box
            do
                letter = box.load(cuda::memory_order_relaxed);
            while (letter >> 32 != call);
            x = __uint_as_float((unsigned)letter);
        }
        sum = d == 0 ? x : sum + x;
    }
    out[i] = sum;
}
//< letters

//> boxes TODO:
static void make_boxes(int device)
{
    size_t bytes = 2 * sizeof *boxes.of[device];
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&boxes.of[device], bytes));
    CHECK(cudaMemset(boxes.of[device], 0, bytes));
    CHECK(cudaDeviceSynchronize());
}

static void free_boxes()
{
    for (int d = 0; d < MOST; d++)
        cudaFree(boxes.of[d]);
}

// A sender is at most one call ahead of a receiver if both take part in
// every call. A call for another number of devices waits for all devices.
static void meet_anew(int devices)
{
    static int before;
    if (devices != before)
        for (int d = 0; d < MOST && boxes.of[d]; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaDeviceSynchronize());
        }
    before = devices;
}
//< boxes

//> helper TODO:
// A thread of the host that launches on one device. The lock is for a
// thread that sleeps until the state changes.
enum State { DONE, ASKED };
struct alignas(64) Helper {
    std::atomic<State> state{DONE};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    cudaError_t error;  // of its last launch
};
static Helper helper[MOST];  // that of device 0 is the caller itself

static void change(Helper *h, State state)
{
    pthread_mutex_lock(&h->lock);
    h->state.store(state, std::memory_order_release);
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

// Waking up takes long. So stay awake for some 50 us, but no longer.
static void wait_until(Helper *h, State state)
{
    for (int look = 0; look < 100000; look++)
        if (h->state.load(std::memory_order_acquire) == state)
            return;
    pthread_mutex_lock(&h->lock);
    while (h->state.load(std::memory_order_relaxed) != state)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}
//< helper

//> side TODO:
static cudaError_t (*task)(int device);  // what all are asked to do

static void *help(void *its_helper)
{
    Helper *h = (Helper *)its_helper;
    int device = (int)(h - helper);
    cudaError_t set = cudaSetDevice(device);  // of this thread, for good
    for (;;) {
        //> asked
        wait_until(h, ASKED);
        //< asked
        h->error = set == cudaSuccess ? task(device) : set;
        change(h, DONE);
    }
}

// Does `launch` for each device, all at the same time.
static void side_by_side(cudaError_t (*launch)(int device), int devices)
{
    task = launch;
    for (int d = 1; d < devices; d++)
        change(&helper[d], ASKED);
    CHECK(cudaSetDevice(0));
    helper[0].error = launch(0);
    //> all-done
    for (int d = 1; d < devices; d++)
        wait_until(&helper[d], DONE);
    //< all-done
    for (int d = 0; d < devices; d++)
        CHECK(helper[d].error);
}
//< side

//> one-way TODO:
// A helper sleeps when the program ends, and needs no goodbye.
static void start_helper(int device)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, help, &helper[device]);
    if (error) {
        fprintf(stderr, "pthread_create: %s\n", strerror(error));
        exit(EXIT_FAILURE);
    }
    pthread_detach(thread);
}

static struct {  // what the caller asks for
    float *const *out;
    const float *const *in;
    int n, devices;
    unsigned call;
} now;

static cudaError_t launch_letters(int d)
{
    send_to_all<<<blocks_for(now.n), THREADS>>>(
        now.out[d], now.in[d], now.n, d, now.devices, boxes, now.call);
    return cudaGetLastError();
}

static void one_way(float *const *out, const float *const *in, int n,
                    int devices)
{
    static unsigned call;
    if (n == 0)
        return;
    if (call == 0)
        atexit(free_boxes);
    for (int d = 0; d < devices; d++)
        if (!boxes.of[d]) {
            make_boxes(d);
            if (d > 0)
                start_helper(d);
        }
    meet_anew(devices);
    call++;

    now = {out, in, n, devices, call};
    side_by_side(launch_letters, devices);
}
//< one-way

//> call
extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    //> set-up
    set_up();
    //< set-up
    //> choice TODO:
    //| star(out, in, n, devices);
    Arrays to, from;
    for (int d = 0; d < devices; d++) {
        to.of[d] = out[d];
        from.of[d] = (float *)in[d];
    }
    if (VERSION == 1)
        star(out, in, n, devices);
    else if (VERSION <= 3)
        ring(out, in, n, devices);
    else if (VERSION == 4)
        direct(to, from, n, devices);
    else if (VERSION == 6 && n <= SMALL)
        one_way(out, in, n, devices);
    else
        one_launch(to, from, n, devices);
    //< choice
}
//< call
