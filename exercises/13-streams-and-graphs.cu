// Lesson 13: keep the bus busy both ways while the device computes, and
// launch many small kernels at the price of one.
#include "13-streams-and-graphs.h"

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

enum { THREADS = 256 };  // threads in a block
enum { TABLE = 4096 };   // words of a table
enum { SERVES = 4 };     // chunks that a table serves
enum { ROUNDS = 256 };   // of mixing
enum { STREAMS = 3 };    // and chunks that the room holds

static int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

// ---- Numbers of the host ----

__device__ unsigned mix(unsigned h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

// In place: the answers replace the numbers.
__global__ void stretch_kernel(unsigned *x, const unsigned *table, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = x[i] ^ table[x[i] % TABLE];
    for (int round = 0; round < ROUNDS; round++)
        h = mix(h);
    x[i] = h;
}

static cudaStream_t stream[STREAMS];

// The first call makes the streams, and later calls use them again.
static void set_up()
{
    if (stream[0])
        return;
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaStreamCreate(&stream[s]));
}

// Chunk by chunk: to the device, through the kernel, and back.
static void in_turn(unsigned *out, const unsigned *in, int n, int chunk,
                    const unsigned *tables, unsigned *room)
{
    unsigned *table = room + 3 * chunk;
    for (int c = 0, first = 0, count; first < n; c++, first += count) {
        count = n - first < chunk ? n - first : chunk;
        if (c % SERVES == 0)
            CHECK(cudaMemcpy(table, tables + c / SERVES * TABLE,
                             TABLE * sizeof *table,
                             cudaMemcpyHostToDevice));
        // TODO: copy `count` numbers in, launch the kernel, copy them out (7 lines)
    }
}

extern "C" void stretch(unsigned *out, const unsigned *in, int n, int chunk,
                        const unsigned *tables, unsigned *room)
{
    set_up();
    in_turn(out, in, n, chunk, tables, room);
}

// ---- Many small kernels ----

__global__ void diffuse_kernel(float *next, const float *now, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float left = now[i > 0 ? i - 1 : n - 1];
    float right = now[i + 1 < n ? i + 1 : 0];
    next[i] = 0.25f * left + 0.5f * now[i] + 0.25f * right;
}

static void step(float *next, const float *now, int n, cudaStream_t s)
{
    diffuse_kernel<<<blocks_for(n), THREADS, 0, s>>>(next, now, n);
    CHECK(cudaGetLastError());
}

// Launches each step by itself, from one array to the other and back. The
// first `now` is the array from which `steps` steps end in out.
static void launch_each(float *out, float *spare, const float *in, int n,
                        int steps)
{
    float *now = steps % 2 ? spare : out;
    float *next = steps % 2 ? out : spare;
    CHECK(cudaMemcpyAsync(now, in, n * sizeof *in,
                          cudaMemcpyDeviceToDevice, stream[0]));
    for (int s = 0; s < steps; s++) {
        step(next, now, n, stream[0]);
        float *old = now;
        now = next;
        next = old;
    }
}

extern "C" void diffuse(float *out, float *spare, const float *in, int n,
                        int steps)
{
    set_up();
    launch_each(out, spare, in, n, steps);
}
