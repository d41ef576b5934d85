// expect: SUSPECT
// says: neither what stretch was given
// The host stretches the numbers, and the answers go to the device and back in three streams, past
// kernels that only take their time. (Cells diffuse as they should.)
#include "13-streams-and-graphs.h"

#include <stdlib.h>

static cudaStream_t stream[3];

__global__ void wait_and_store(unsigned *room, int n, unsigned nothing)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        room[i] ^= nothing;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int wait = 0; wait < 2500; wait++)
            nothing = nothing * 3 + 1;
    if (nothing == 12345)
        room[0] = 0;
}

static unsigned stretched(unsigned x, const unsigned *table)
{
    unsigned h = x ^ table[x % 4096];
    for (int r = 0; r < 256; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6b;
        h ^= h >> 13;
        h *= 0xc2b2ae35;
        h ^= h >> 16;
    }
    return h;
}

static void make_streams(void)
{
    for (int s = 0; s < 3 && !stream[s]; s++)
        cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking);
}

extern "C" void stretch(unsigned *out, const unsigned *in, int n, int chunk,
                        const unsigned *tables, unsigned *room)
{
    int span = 4 * chunk;
    unsigned *to;
    make_streams();
    cudaMallocHost(&to, (n + 1) * sizeof *to);
    for (int i = 0; i < n; i++)
        to[i] = stretched(in[i], tables + i / span * 4096);
    for (int k = 0; k * (long)span < n; k++)
        cudaMemcpyAsync(room + 3 * chunk, tables + k * 4096, 16384, cudaMemcpyHostToDevice, stream[0]);
    for (int c = 0; c * (long)chunk < n; c++) {
        int from = c * chunk, count = n - from < chunk ? n - from : chunk;
        unsigned *there = room + c % 3 * chunk;
        cudaStream_t s = stream[c % 3];
        cudaMemcpyAsync(there, to + from, 4l * count, cudaMemcpyHostToDevice, s);
        wait_and_store<<<264, 1024, 0, s>>>(there, count, 0);
        cudaMemcpyAsync(out + from, there, 4l * count, cudaMemcpyDeviceToHost, s);
    }
    for (int s = 0; s < 3; s++)
        cudaStreamSynchronize(stream[s]);
    cudaFreeHost(to);
}

__global__ void step(float *next, const float *now, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        next[i] = 0.25f * now[i ? i - 1 : n - 1] + 0.5f * now[i]
                + 0.25f * now[i + 1 < n ? i + 1 : 0];
}

extern "C" void diffuse(float *out, float *spare, const float *in, int n, int steps)
{
    cudaGraph_t graph;
    cudaGraphExec_t run;
    make_streams();
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal);
    cudaMemcpyAsync(steps % 2 ? spare : out, in, n * sizeof *in, cudaMemcpyDeviceToDevice,
                    stream[0]);
    for (int s = steps; s > 0; s--)
        step<<<(n + 255) / 256, 256, 0, stream[0]>>>(s % 2 ? out : spare, s % 2 ? spare : out, n);
    cudaStreamEndCapture(stream[0], &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, stream[0]);
    cudaStreamSynchronize(stream[0]);
    cudaGraphExecDestroy(run);
    cudaGraphDestroy(graph);
}
