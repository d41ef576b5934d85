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
enum { TABLE = 256 };    // words of the table
enum { ROUNDS = 256 };   // of mixing
enum { STREAMS = 3 };    // as many as there are things to do at once

//> version TODO:
#ifndef VERSION
#define VERSION 5  // 2, 3: so many streams; 4, 5: a graph too
#endif
//< version

static int blocks_for(int n)
{
    return (n + THREADS - 1) / THREADS;
}

// ---- Numbers of the host ----

//> kernel
__device__ unsigned mix(unsigned h)
{
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

// In place: a number's room is enough for what becomes of it.
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
//< kernel

//> in-turn
// Version 1: as many numbers as fit, there, through the kernel, and back;
// then the next ones.
static void in_turn(unsigned *out, const unsigned *in, int n,
                    const unsigned *table, unsigned *room, int words)
{
    unsigned *numbers = room + TABLE;  // behind the table
    int most = words - TABLE;
    CHECK(cudaMemcpy(room, table, TABLE * sizeof *room,
                     cudaMemcpyHostToDevice));
    for (int first = 0; first < n; first += most) {
        int count = n - first < most ? n - first : most;
        size_t bytes = count * sizeof *in;
        CHECK(cudaMemcpy(numbers, in + first, bytes,
                         cudaMemcpyHostToDevice));
        stretch_kernel<<<blocks_for(count), THREADS>>>(numbers, room,
                                                       count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out + first, numbers, bytes,
                         cudaMemcpyDeviceToHost));
    }
}
//< in-turn

//> set-up
//> streams
static cudaStream_t stream[STREAMS];
//< streams
static cudaEvent_t table_there;  // a moment in stream 0

// The first call makes them, once.
static void set_up()
{
    if (table_there)
        return;
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaStreamCreate(&stream[s]));
    CHECK(cudaEventCreateWithFlags(&table_there,
                                   cudaEventDisableTiming));
}
//< set-up

//> in-streams
// Versions 2 and 3: each stream has a part of the room to itself, and
// takes every streams-th chunk of the numbers.
static void in_streams(unsigned *out, const unsigned *in, int n,
                       const unsigned *table, unsigned *room, int words,
                       int streams)
{
    //> table TODO: copy the table in stream 0; the other streams wait for that (5 lines)
    CHECK(cudaMemcpyAsync(room, table, TABLE * sizeof *room,
                          cudaMemcpyHostToDevice, stream[0]));
    CHECK(cudaEventRecord(table_there, stream[0]));
    for (int s = 1; s < streams; s++)
        CHECK(cudaStreamWaitEvent(stream[s], table_there, 0));
    //< table

    //> chunks TODO: chunk by chunk: copy in, launch, copy out, each in its stream (15 lines)
    //> chunk-size
    int most = (words - TABLE) / streams;  // numbers in a chunk
    //< chunk-size
    //> each-chunk
    for (int c = 0, first = 0; first < n; c++, first += most) {
    //< each-chunk
        int s = c % streams;
        int count = n - first < most ? n - first : most;
        size_t bytes = count * sizeof *in;
        unsigned *numbers = room + TABLE + s * most;
        CHECK(cudaMemcpyAsync(numbers, in + first, bytes,
                              cudaMemcpyHostToDevice, stream[s]));
        //> run
        stretch_kernel<<<blocks_for(count), THREADS, 0, stream[s]>>>(
            numbers, room, count);
        //< run
        CHECK(cudaGetLastError());
        //> bring
        CHECK(cudaMemcpyAsync(out + first, numbers, bytes,
                              cudaMemcpyDeviceToHost, stream[s]));
        //< bring
    }
    //< chunks

    //> wait TODO: wait for all streams (2 lines)
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamSynchronize(stream[s]));
    //< wait
}
//< in-streams

//> stages TODO:
// What happens to the numbers of each part of the room.
static cudaEvent_t come[STREAMS], made[STREAMS], gone[STREAMS];

// Version 5: a stream for each of the three things that are done, in which
// the chunks follow one another, and events that take a chunk from each to
// the next. The first is begun anew when the part of the room is empty.
static void in_stages(unsigned *out, const unsigned *in, int n,
                      const unsigned *table, unsigned *room, int words)
{
    cudaStream_t fetch = stream[0], compute = stream[1], bring = stream[2];
    int most = (words - TABLE) / STREAMS;
    for (int p = 0; p < STREAMS && !gone[p]; p++) {
        unsigned quick = cudaEventDisableTiming;
        CHECK(cudaEventCreateWithFlags(&come[p], quick));
        CHECK(cudaEventCreateWithFlags(&made[p], quick));
        CHECK(cudaEventCreateWithFlags(&gone[p], quick));
    }

    // The first chunk's event stands for the table too.
    CHECK(cudaMemcpyAsync(room, table, TABLE * sizeof *room,
                          cudaMemcpyHostToDevice, fetch));
    for (int c = 0, first = 0; first < n; c++, first += most) {
        int p = c % STREAMS;
        int count = n - first < most ? n - first : most;
        size_t bytes = count * sizeof *in;
        unsigned *numbers = room + TABLE + p * most;

        //> part-is-free
        if (c >= STREAMS)
            CHECK(cudaStreamWaitEvent(fetch, gone[p], 0));
        //< part-is-free
        CHECK(cudaMemcpyAsync(numbers, in + first, bytes,
                              cudaMemcpyHostToDevice, fetch));
        CHECK(cudaEventRecord(come[p], fetch));

        CHECK(cudaStreamWaitEvent(compute, come[p], 0));
        stretch_kernel<<<blocks_for(count), THREADS, 0, compute>>>(
            numbers, room, count);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(made[p], compute));

        CHECK(cudaStreamWaitEvent(bring, made[p], 0));
        CHECK(cudaMemcpyAsync(out + first, numbers, bytes,
                              cudaMemcpyDeviceToHost, bring));
        CHECK(cudaEventRecord(gone[p], bring));
    }
    CHECK(cudaStreamSynchronize(fetch));
    CHECK(cudaStreamSynchronize(bring));
}
//< stages

extern "C" void stretch(unsigned *out, const unsigned *in, int n,
                        const unsigned *table, unsigned *room, int words)
{
    set_up();
    //> choice TODO:
    //| bool compare = false;  // true: version 1 instead
    //| if (compare)
    //|     in_turn(out, in, n, table, room, words);
    //| else
    //|     in_streams(out, in, n, table, room, words, STREAMS);
    if (VERSION == 1)
        in_turn(out, in, n, table, room, words);
    else if (VERSION == 5)
        in_stages(out, in, n, table, room, words);
    else
        in_streams(out, in, n, table, room, words,
                   VERSION == 2 ? 2 : STREAMS);
    //< choice
}

// ---- Many small kernels ----

//> step
__global__ void diffuse_kernel(float *next, const float *now, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    //> left
    float left = now[i > 0 ? i - 1 : n - 1];
    //< left
    float right = now[i + 1 < n ? i + 1 : 0];
    next[i] = 0.25f * left + 0.5f * now[i] + 0.25f * right;
}

static void step(float *next, const float *now, int n, cudaStream_t s)
{
    diffuse_kernel<<<blocks_for(n), THREADS, 0, s>>>(next, now, n);
    CHECK(cudaGetLastError());
}
//< step

//> launch-each
// Versions 1 to 3: a launch for each step, from one array to the other and
// back. They begin where an odd number of them ends in `out`, too.
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
//< launch-each

//> batches
//> batch
enum { BATCH = 20 };  // steps in a graph: an even number
//< batch

// BATCH steps, from out to spare and back, ready to be launched.
static cudaGraphExec_t make_batch(float *out, float *spare, int n)
{
    //> capture TODO: capture the steps, issued to stream 0, and instantiate the graph (10 lines)
    cudaGraph_t graph;
    cudaGraphExec_t batch;
    CHECK(cudaStreamBeginCapture(stream[0],
                                 cudaStreamCaptureModeThreadLocal));
    //> steps
    for (int s = 0; s < BATCH; s += 2) {
        step(spare, out, n, stream[0]);
        step(out, spare, n, stream[0]);
    }
    //< steps
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&batch, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return batch;
    //| return NULL;
    //< capture
}

// Version 4: what is left over by itself, then batch after batch.
static void launch_batches(float *out, float *spare, const float *in,
                           int n, int steps)
{
    int batches = steps / BATCH;
    launch_each(out, spare, in, n, steps % BATCH);
    if (batches == 0)
        return;

    cudaGraphExec_t batch = make_batch(out, spare, n);
    for (int b = 0; b < batches; b++)
        CHECK(cudaGraphLaunch(batch, stream[0]));
    CHECK(cudaGraphExecDestroy(batch));  // once it has run
}
//< batches

extern "C" void diffuse(float *out, float *spare, const float *in, int n,
                        int steps)
{
    //> streams-ready
    set_up();
    //< streams-ready
    //> choose TODO:
    //| bool compare = false;  // true: a launch for each step instead
    //| if (compare)
    //|     launch_each(out, spare, in, n, steps);
    //| else
    //|     launch_batches(out, spare, in, n, steps);
    if (VERSION <= 3)
        launch_each(out, spare, in, n, steps);
    else
        launch_batches(out, spare, in, n, steps);
    //< choose
}
