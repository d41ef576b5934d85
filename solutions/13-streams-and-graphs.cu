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

//> version TODO:
#ifndef VERSION
#define VERSION 6  // 2 to 4: steps 1 to 3; 5: the graph too; 6: gold
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
//< kernel

//> set-up
//> streams
static cudaStream_t stream[STREAMS];
//< streams

// The first call makes the streams, and later calls use them again.
static void set_up()
{
    if (stream[0])
        return;
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaStreamCreate(&stream[s]));
}
//< set-up

//> in-turn
// Chunk by chunk: to the device, through the kernel, and back.
static void in_turn(unsigned *out, const unsigned *in, int n, int chunk,
                    const unsigned *tables, unsigned *room)
{
    unsigned *table = room + 3 * chunk;
    //> chunk-loop
    for (int c = 0, first = 0, count; first < n; c++, first += count) {
        count = n - first < chunk ? n - first : chunk;
    //< chunk-loop
        //> new-table
        if (c % SERVES == 0)
            CHECK(cudaMemcpy(table, tables + c / SERVES * TABLE,
                             TABLE * sizeof *table,
                             cudaMemcpyHostToDevice));
        //< new-table
        //> chunk TODO: copy `count` numbers in, launch the kernel, copy them out (7 lines)
        size_t bytes = count * sizeof *in;
        CHECK(cudaMemcpy(room, in + first, bytes,
                         cudaMemcpyHostToDevice));
        stretch_kernel<<<blocks_for(count), THREADS>>>(room, table, count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out + first, room, bytes,
                         cudaMemcpyDeviceToHost));
        //< chunk
    }
}
//< in-turn

//> steps TODO:
//> one-stream
// Step 1: the same calls in one stream; the host waits once, at the end.
static void in_one_stream(unsigned *out, const unsigned *in, int n,
                          int chunk, const unsigned *tables,
                          unsigned *room)
{
    unsigned *table = room + 3 * chunk;
    for (int c = 0, first = 0, count; first < n; c++, first += count) {
        count = n - first < chunk ? n - first : chunk;
        size_t bytes = count * sizeof *in;
        if (c % SERVES == 0)
            CHECK(cudaMemcpyAsync(table, tables + c / SERVES * TABLE,
                                  TABLE * sizeof *table,
                                  cudaMemcpyHostToDevice, stream[0]));
        CHECK(cudaMemcpyAsync(room, in + first, bytes,
                              cudaMemcpyHostToDevice, stream[0]));
        stretch_kernel<<<blocks_for(count), THREADS, 0, stream[0]>>>(
            room, table, count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(out + first, room, bytes,
                              cudaMemcpyDeviceToHost, stream[0]));
    }
    CHECK(cudaStreamSynchronize(stream[0]));
}
//< one-stream

//> renew
static cudaEvent_t come;             // the new table is there
static cudaEvent_t passed[STREAMS];  // the stream came to a new table

static void set_up_events()
{
    if (come)
        return;
    unsigned flags = cudaEventDisableTiming;
    CHECK(cudaEventCreateWithFlags(&come, flags));
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaEventCreateWithFlags(&passed[s], flags));
}

// Step 3: copies a new table, in stream `copier`, over the table before
// the last one. Kernels that use that one precede the marks that all
// streams left at the last new table.
static void renew(unsigned *table, const unsigned *from,
                  cudaStream_t copier)
{
    //> may-overwrite
    for (int s = 0; s < STREAMS; s++)
        CHECK(cudaStreamWaitEvent(copier, passed[s], 0));
    //< may-overwrite
    //> copy-and-record
    CHECK(cudaMemcpyAsync(table, from, TABLE * sizeof *table,
                          cudaMemcpyHostToDevice, copier));
    CHECK(cudaEventRecord(come, copier));
    //< copy-and-record
    for (int s = 0; s < STREAMS; s++) {
        //> wait-for-table
        CHECK(cudaStreamWaitEvent(stream[s], come, 0));
        //< wait-for-table
        CHECK(cudaEventRecord(passed[s], stream[s]));
    }
}
//< renew

//> in-streams
// Step 2: `streams` chunks are under way, each in a stream and a part of
// the room of its own. Step 3, with events, has two tables in the room.
static void in_streams(unsigned *out, const unsigned *in, int n, int chunk,
                       const unsigned *tables, unsigned *room, int streams,
                       bool events)
{
    unsigned *table = room + 3 * chunk;
    for (int c = 0, first = 0, count; first < n; c++, first += count) {
        int s = c % streams;
        count = n - first < chunk ? n - first : chunk;
        size_t bytes = count * sizeof *in;
        unsigned *numbers = room + s * chunk;
        //> table-in-streams
        if (c % SERVES == 0) {
            int k = c / SERVES;
            const unsigned *from = tables + k * TABLE;
            if (events) {
                table = room + 3 * chunk + k % 2 * TABLE;
                renew(table, from, stream[s]);
            } else {
                CHECK(cudaMemcpy(table, from, TABLE * sizeof *table,
                                 cudaMemcpyHostToDevice));
            }
        }
        //< table-in-streams
        CHECK(cudaMemcpyAsync(numbers, in + first, bytes,
                              cudaMemcpyHostToDevice, stream[s]));
        //> run
        stretch_kernel<<<blocks_for(count), THREADS, 0, stream[s]>>>(
            numbers, table, count);
        //< run
        CHECK(cudaGetLastError());
        //> bring
        CHECK(cudaMemcpyAsync(out + first, numbers, bytes,
                              cudaMemcpyDeviceToHost, stream[s]));
        //< bring
    }
    //> wait
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamSynchronize(stream[s]));
    //< wait
}
//< in-streams

//> stages
// What has happened to the numbers in each part of the room.
static cudaEvent_t there[STREAMS], made[STREAMS], gone[STREAMS];

static void set_up_stages()
{
    unsigned flags = cudaEventDisableTiming;
    for (int p = 0; p < STREAMS && !gone[p]; p++) {
        CHECK(cudaEventCreateWithFlags(&there[p], flags));
        CHECK(cudaEventCreateWithFlags(&made[p], flags));
        CHECK(cudaEventCreateWithFlags(&gone[p], flags));
    }
}

// Gold: a stream for copies in, one for kernels and one for copies out,
// and events that pass each chunk on. A new table comes in stream `fetch`,
// before the first chunk that needs it. The table that it replaces is not
// in use: `fetch` has waited for answers of a chunk that came later.
static void in_stages(unsigned *out, const unsigned *in, int n, int chunk,
                      const unsigned *tables, unsigned *room)
{
    cudaStream_t fetch = stream[0], compute = stream[1], bring = stream[2];
    unsigned *table = room + 3 * chunk;
    for (int c = 0, first = 0, count; first < n; c++, first += count) {
        int p = c % STREAMS;
        count = n - first < chunk ? n - first : chunk;
        size_t bytes = count * sizeof *in;
        unsigned *numbers = room + p * chunk;

        //> part-is-free
        if (c >= STREAMS)
            CHECK(cudaStreamWaitEvent(fetch, gone[p], 0));
        //< part-is-free
        if (c % SERVES == 0) {
            int k = c / SERVES;
            table = room + 3 * chunk + k % 2 * TABLE;
            CHECK(cudaMemcpyAsync(table, tables + k * TABLE,
                                  TABLE * sizeof *table,
                                  cudaMemcpyHostToDevice, fetch));
        }
        CHECK(cudaMemcpyAsync(numbers, in + first, bytes,
                              cudaMemcpyHostToDevice, fetch));
        CHECK(cudaEventRecord(there[p], fetch));

        CHECK(cudaStreamWaitEvent(compute, there[p], 0));
        stretch_kernel<<<blocks_for(count), THREADS, 0, compute>>>(
            numbers, table, count);
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
//< steps

extern "C" void stretch(unsigned *out, const unsigned *in, int n, int chunk,
                        const unsigned *tables, unsigned *room)
{
    set_up();
    //> choice TODO:
    //| in_turn(out, in, n, chunk, tables, room);
    set_up_events();
    set_up_stages();
    if (VERSION == 1)
        in_turn(out, in, n, chunk, tables, room);
    else if (VERSION == 2)
        in_one_stream(out, in, n, chunk, tables, room);
    else if (VERSION == 6)
        in_stages(out, in, n, chunk, tables, room);
    else
        in_streams(out, in, n, chunk, tables, room, STREAMS, VERSION > 3);
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
//< launch-each

//> graph-step TODO:
//> batches
//> batch
enum { BATCH = 20 };  // steps in a graph: an even number
//< batch

// BATCH steps, from out to spare and back, ready to be launched.
static cudaGraphExec_t make_batch(float *out, float *spare, int n)
{
    cudaGraph_t graph;
    cudaGraphExec_t batch;
    CHECK(cudaStreamBeginCapture(stream[0],
                                 cudaStreamCaptureModeThreadLocal));
    //> captured
    for (int s = 0; s < BATCH; s += 2) {
        step(spare, out, n, stream[0]);
        step(out, spare, n, stream[0]);
    }
    //< captured
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&batch, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return batch;
}

// Launches the remainder by itself, and then batch after batch.
static void launch_batches(float *out, float *spare, const float *in,
                           int n, int steps)
{
    launch_each(out, spare, in, n, steps % BATCH);
    if (steps < BATCH)
        return;
    cudaGraphExec_t batch = make_batch(out, spare, n);
    for (int b = 0; b < steps / BATCH; b++)
        CHECK(cudaGraphLaunch(batch, stream[0]));
    CHECK(cudaGraphExecDestroy(batch));  // it goes once it has run
}
//< batches
//< graph-step

extern "C" void diffuse(float *out, float *spare, const float *in, int n,
                        int steps)
{
    //> streams-ready
    set_up();
    //< streams-ready
    //> choose TODO:
    //| launch_each(out, spare, in, n, steps);
    if (VERSION <= 4)
        launch_each(out, spare, in, n, steps);
    else
        launch_batches(out, spare, in, n, steps);
    //< choose
}
