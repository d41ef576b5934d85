// expect: TIMEOUT
// says: 6 calls in a row, devices = 4: no warp can go on, on any of 4 devices
// One set of boxes: the next call's letters may come before those of this call are read.
#include "29-all-reduce.h"

#include <cuda/atomic>
#include <stdio.h>
#include <stdlib.h>

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
    }
}

static int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

struct Arrays {
    float *of[MOST];  // a pointer for each device
};

typedef cuda::atomic_ref<unsigned, cuda::thread_scope_system> Flag;

// Every device's flags: what block b of device d has come to, before and
// after the work, as the number of the call.
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

// Block b of each device waits here for block b of all others. What its
// threads stored before, the others' threads may read afterwards.
__device__ void meet(Flags all, int phase, unsigned call, int device,
                     int devices)
{
    __syncthreads();
    if (threadIdx.x < devices) {
        int other = threadIdx.x, b = blockIdx.x;
        Flag theirs(all.of[other][phase][b][device]);
        Flag ours(all.of[device][phase][b][other]);
        theirs.store(call, cuda::memory_order_release);
        while (ours.load(cuda::memory_order_acquire) != call) {
        }
    }
    __syncthreads();
}

// Version 5: as version 4, four floats at a time, in one launch a device:
// flags take the place of the events.
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

    meet(flags, 1, call, device, devices);
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

// Version 6, for small vectors: each float travels with the number of the
// call, in one store of 8 bytes. Whoever sees the number has the float.
enum { SMALL = 4096 };  // floats at most

typedef unsigned long long Letter;  // the number above, the float below
typedef cuda::atomic_ref<Letter, cuda::thread_scope_system> Box;

// Every device's boxes: one for each sender's each float.
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
            Box(boxes.of[d][0][device][i])
                .store(letter, cuda::memory_order_relaxed);

    float sum = 0;
    for (int d = 0; d < devices; d++) {
        float x = own;
        if (d != device) {
            Box box(boxes.of[device][0][d][i]);
            do
                letter = box.load(cuda::memory_order_relaxed);
            while (letter >> 32 != call);
            x = __uint_as_float((unsigned)letter);
        }
        sum = d == 0 ? x : sum + x;
    }
    out[i] = sum;
}

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

// A sender is at most one call ahead of a receiver as long as both take
// part in every call. When others are asked than before, all wait.
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

static void one_way(float *const *out, const float *const *in, int n,
                    int devices)
{
    static unsigned call;
    if (n == 0)
        return;
    if (call == 0)
        atexit(free_boxes);
    for (int d = 0; d < devices; d++)
        if (!boxes.of[d])
            make_boxes(d);
    meet_anew(devices);
    call++;

    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        send_to_all<<<blocks_for(n), THREADS>>>(out[d], in[d], n, d, devices,
                                                boxes, call);
        CHECK(cudaGetLastError());
    }
}


extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    set_up();
    Arrays to, from;
    for (int d = 0; d < devices; d++) {
        to.of[d] = out[d];
        from.of[d] = (float *)in[d];
    }
    if (n <= SMALL)
        one_way(out, in, n, devices);
    else
        one_launch(to, from, n, devices);
}
