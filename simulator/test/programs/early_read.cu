// expect: race 35, race 39, race 48, race 58, race 68, race 77, race 86, race 100, race 127, race 112, race 115, exit 0
// says: host code reads pinned memory that cudaMemcpyAsync may still be writing, at byte 12 of the 1024-byte allocation made at early_read.cu:140
// says: host code writes pinned memory that cudaMemcpyAsync may still be writing, at byte 16 of the 1024-byte
// says: host code reads pinned memory that cudaMemcpy2DAsync may still be writing, at byte 132 of
// says: host code reads pinned memory that cudaMemcpyFromSymbolAsync may still be writing
// says: host code reads pinned memory that cudaMemsetAsync may still be writing
// What copies bring to pinned memory is not there before the host has waited: it finds what was there before.
#include "check.h"
#include <unistd.h>

enum { N = 256 };

__device__ int variable[N];

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
    variable[threadIdx.x] = value;
}

static int *p, *other, *d;
static cudaStream_t s, t;

static void begin()
{
    for (int i = 0; i < N; i++)
        p[i] = -1;
    fill<<<1, N, 0, s>>>(d, 7);
}

static void plain()
{
    begin();
    OK(cudaMemcpyAsync(p, d, N * sizeof *p, cudaMemcpyDeviceToHost, s));
    CHECK(p[3] == -1);
    OK(cudaStreamSynchronize(s));
    CHECK(p[3] == 7);
    OK(cudaMemcpyAsync(p, d, N * sizeof *p, cudaMemcpyDeviceToHost, s));
    p[4] = 3;                           // or write it
    OK(cudaStreamSynchronize(s));
}

static void rows()
{
    begin();
    OK(cudaMemcpy2DAsync(p, 128, d, 16, 8, 8, cudaMemcpyDeviceToHost, s));
    CHECK(p[2] == -1 && p[31] == -1);   // between the rows
    CHECK(p[33] == -1);
    OK(cudaDeviceSynchronize());
    CHECK(p[33] == 7 && p[34] == -1);
}

static void of_variable()
{
    begin();
    OK(cudaMemcpyFromSymbolAsync(p, variable, N * sizeof *p, 0, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(t));       // another stream
    CHECK(p[5] == -1);
    OK(cudaStreamSynchronize(s));
}

static void fills(cudaEvent_t before)
{
    begin();
    OK(cudaEventRecord(before, s));     // before it, and not after
    OK(cudaMemsetAsync(p, 0, N * sizeof *p, s));
    OK(cudaEventSynchronize(before));
    CHECK(p[N - 1] == -1);
    OK(cudaStreamSynchronize(s));
    CHECK(p[N - 1] == 0);
}

static void asks_once()
{
    begin();
    OK(cudaMemcpyAsync(p, d, N * sizeof *p, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady && p[1] == -1);
    OK(cudaStreamSynchronize(s));
}

static void next_to_it()
{
    OK(cudaMemcpyAsync(other, d, 4, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpyAsync(other + 1, d, 4, cudaMemcpyDeviceToHost, t));
    OK(cudaStreamSynchronize(s));
    CHECK(other[0] == 7 && other[1] == 0);
    OK(cudaStreamSynchronize(t));
}

static void graph()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    begin();
    OK(cudaMemcpyAsync(p, d, N * sizeof *p, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, t));
    CHECK(p[9] == -1);
    OK(cudaStreamSynchronize(t));
    CHECK(p[9] == 7);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

// Who polls for it is told, and finds it in the end.
static void polls()
{
    begin();
    OK(cudaMemcpyAsync(p, d, N * sizeof *p, cudaMemcpyDeviceToHost, s));
    while (*(volatile int *)p == -1) {}
    CHECK(p[0] == 7);
    OK(cudaMemcpyAsync(p, d, 4, cudaMemcpyDeviceToHost, s));
    p[0] = -1;
    while (cudaStreamQuery(t) == cudaSuccess && *(volatile int *)p == -1) {}
    OK(cudaStreamSynchronize(s));
}

// A system call reads it.
static void into_pipe()
{
    int pipes[2], got[2];
    CHECK(pipe(pipes) == 0);
    begin();
    OK(cudaMemcpyAsync(p + 1, d, 4, cudaMemcpyDeviceToHost, s));
    CHECK(write(pipes[1], p, 8) == 8);
    CHECK(read(pipes[0], got, 8) == 8 && got[1] == -1);
    OK(cudaStreamSynchronize(s));
    close(pipes[0]);
    close(pipes[1]);
}

int main()
{
    cudaEvent_t event;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&event));
    OK(cudaMallocHost(&p, N * sizeof *p));
    OK(cudaHostAlloc(&other, 8, cudaHostAllocDefault));
    OK(cudaMalloc(&d, N * sizeof *d));
    plain();
    rows();
    of_variable();
    fills(event);
    asks_once();
    next_to_it();
    graph();
    into_pipe();
    polls();
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaEventDestroy(event));
    OK(cudaFreeHost(p));
    OK(cudaFreeHost(other));
    OK(cudaFree(d));
    return 0;
}
