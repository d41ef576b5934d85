// expect: exit 0
// run: --timeline build/simulator/test/timeline.json
// Work of every kind, for the test of the timeline (api.c): on two streams, of which one waits for the other's event, in a
// graph, and on the default stream.
#include "check.h"

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

static void count(void *calls) { ++*(int *)calls; }

int main()
{
    enum { N = 64 };
    const size_t bytes = 1 << 20;
    int *x, *there, *in, *out, calls = 0;
    cudaStream_t a, b;
    cudaEvent_t done;
    OK(cudaMallocHost(&in, bytes));
    OK(cudaMallocHost(&out, bytes));
    OK(cudaMalloc(&x, bytes));
    OK(cudaMalloc(&there, bytes));
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreate(&done));
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        in[i] = (int)i;
    OK(cudaMemset(there, 0, bytes));                                        // default stream

    OK(cudaMemcpyAsync(x, in, bytes, cudaMemcpyHostToDevice, a));           // stream 1
    OK(cudaMemcpyAsync(out, there, bytes, cudaMemcpyDeviceToHost, b));      // stream 2, at the same time
    OK(cudaEventRecord(done, a));
    OK(cudaStreamWaitEvent(b, done, 0));
    twice<<<1, N, 0, b>>>(x);
    OK(cudaLaunchHostFunc(b, count, &calls));
    OK(cudaStreamSynchronize(b));
    CHECK(calls == 1);

    cudaGraph_t graph;
    cudaGraphExec_t ready;
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    twice<<<1, N, 0, a>>>(x);
    twice<<<1, N, 0, a>>>(x);
    OK(cudaStreamEndCapture(a, &graph));
    OK(cudaGraphInstantiate(&ready, graph, 0));
    OK(cudaGraphLaunch(ready, a));
    OK(cudaStreamSynchronize(a));

    OK(cudaMemcpy(out, x, bytes, cudaMemcpyDeviceToHost));
    CHECK(out[N - 1] == 8 * (N - 1) && out[N] == N);
    OK(cudaGraphExecDestroy(ready));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFreeHost(in));
    OK(cudaFreeHost(out));
    OK(cudaFree(x));
    OK(cudaFree(there));
    return 0;
}
