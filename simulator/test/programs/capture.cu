// expect: api 75, api 117, api 119, api 122, api 130, api 131, api 137, api 148, api 184, exit 0
// says: cudaStreamSynchronize: a stream is being captured
// says: cudaDeviceSynchronize: a stream is being captured
// says: the default stream cannot be captured
// says: cudaGraphLaunch: the stream is being captured
// says: cudaStreamEndCapture: this stream is not being captured
// says: cudaMemcpy: it names no stream, while another one is being captured
// Graphs captured from streams, and what may not be done meanwhile.
#include "check.h"
#include <pthread.h>

enum { N = 32 };

__global__ void add(int *p, int value) { p[threadIdx.x] += value; }

static int calls;
static void count(void *) { calls++; }

static void call_back(cudaStream_t, cudaError_t, void *) {}

static cudaStream_t s, t;
static cudaEvent_t fork, join;
static int *p, *q;

static cudaStreamCaptureStatus status(cudaStream_t stream)
{
    cudaStreamCaptureStatus now;
    OK(cudaStreamIsCapturing(stream, &now));
    return now;
}

static void captured(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int host[N], other[N];
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(status(s) == cudaStreamCaptureStatusActive && status(t) == cudaStreamCaptureStatusNone);
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
    CHECK(cudaGetLastError() == cudaErrorIllegalState);
    OK(cudaMemsetAsync(p, 0, sizeof host, s));
    OK(cudaMemsetAsync(q, 0, sizeof host, s));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    CHECK(status(t) == cudaStreamCaptureStatusActive);
    add<<<1, N, 0, s>>>(p, 1);
    OK(cudaGetLastError());
    add<<<1, N, 0, t>>>(q, 2);
    OK(cudaLaunchHostFunc(t, count, NULL));
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpyAsync(other, q, sizeof other, cudaMemcpyDeviceToHost, s));
    cudaStreamCaptureStatus now;
    unsigned long long id = 0;
    cudaGraph_t into = NULL;
    const cudaGraphNode_t *tips;
    size_t tip_count = 0;
    OK(cudaStreamGetCaptureInfo(s, &now, &id, &into, &tips, NULL, &tip_count));
    CHECK(now == cudaStreamCaptureStatusActive && id && into && tip_count == 1);
    OK(cudaStreamEndCapture(s, &graph));
    CHECK(graph == into && status(t) == cudaStreamCaptureStatusNone && calls == 0);
    size_t nodes, edges;
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(nodes == 7 && edges == 7);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 1; i <= 2; i++) {
        OK(cudaGraphLaunch(exec, s));
        OK(cudaStreamSynchronize(s));
        CHECK(host[3] == 1 && other[3] == 2 && calls == i);
    }
    // An executable graph's launch is not to be captured. Into a graph that is there.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CHECK(cudaGraphLaunch(exec, s) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(s, &into) == cudaErrorStreamCaptureInvalidated && cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    add<<<1, N, 0, s>>>(p, 2);
    OK(cudaGetLastError());
    OK(cudaStreamEndCapture(s, &into));
    CHECK(into == graph);
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 8);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

#define BROKEN(call, due)                                                                       \
    do {                                                                                        \
        cudaGraph_t none;                                                                       \
        OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));                             \
        CHECK((call) == due);                                                                   \
        CHECK(status(s) == cudaStreamCaptureStatusInvalidated);                                 \
        CHECK(cudaMemsetAsync(p, 0, 4, s) == cudaErrorStreamCaptureInvalidated);                \
        CHECK(cudaStreamEndCapture(s, &none) == cudaErrorStreamCaptureInvalidated && !none);    \
        OK(cudaMemsetAsync(p, 0, 4, s));                                                        \
    } while (0)

static void *end_it(void *due)
{
    cudaGraph_t none;
    CHECK(cudaStreamEndCapture(s, &none) == *(cudaError_t *)due && !none);
    return NULL;
}

static void end_elsewhere(cudaError_t due)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_it, &due) == 0 && pthread_join(thread, NULL) == 0);
}

static void forbidden(void)
{
    cudaGraph_t graph;
    void *memory;
    int host[N];
    BROKEN(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaFree(NULL), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaStreamSynchronize(t), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaStreamQuery(t), cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaStreamWaitEvent(s, NULL, 0), cudaErrorInvalidResourceHandle);
    BROKEN(cudaStreamAddCallback(s, call_back, NULL, 0), cudaErrorStreamCaptureUnsupported);
    BROKEN((add<<<1, 2048, 0, s>>>(p, 1), cudaGetLastError()), cudaErrorInvalidValue);
    BROKEN(cudaMemPrefetchAsync(p, 4, cudaMemLocation{ cudaMemLocationTypeDevice, 0 }, 0, s),
           cudaErrorStreamCaptureUnsupported);
    BROKEN(cudaStreamWaitEvent(s, join, 0), cudaErrorStreamCaptureIsolation);
    CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorIllegalState);

    // A capture is to end in its own thread, unless it is good for nothing any more.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    end_elsewhere(cudaErrorStreamCaptureWrongThread);          // an H200 ends it all the same
    CHECK(status(s) == cudaStreamCaptureStatusNone);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorIllegalState);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
    end_elsewhere(cudaErrorStreamCaptureInvalidated);
    CHECK(status(s) == cudaStreamCaptureStatusNone);

    // Relaxed, memory may be allocated, but not all streams waited for.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMalloc(&memory, 4));
    OK(cudaFree(memory));
    OK(cudaStreamSynchronize(t));
    CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaEventRecordWithFlags(fork, s, cudaEventRecordExternal) == cudaErrorIllegalState);
    CHECK(cudaStreamWaitEvent(s, fork, cudaEventWaitExternal) == cudaErrorIllegalState);

    OK(cudaEventRecord(join, t));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventQuery(join) == cudaErrorStreamCaptureUnsupported);   // though nobody captures it
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(fork, s));
    CHECK(cudaEventSynchronize(fork) == cudaErrorCapturedEvent);
    CHECK(cudaEventQuery(fork) == cudaErrorCapturedEvent);
    OK(cudaEventRecord(fork, t));               // now it stands for something else
    OK(cudaEventSynchronize(fork));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(cudaMemsetAsync(q, 0, 4, t));
    CHECK(cudaStreamEndCapture(t, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);

    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(cudaMemsetAsync(q, 0, 4, t));
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined);

    // Relaxed captures let the thread allocate; a blocking stream's capture minds the default stream.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMalloc(&memory, 4));
    OK(cudaFree(memory));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphDestroy(graph));
    cudaStream_t blocking;
    OK(cudaStreamCreate(&blocking));
    OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaStreamEndCapture(blocking, &graph) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamDestroy(blocking));
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMalloc(&memory, 4));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(memory));
}

static void fork_off(cudaStream_t forked, cudaEvent_t at)
{
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(p, 0, N * sizeof *p, s));
    OK(cudaEventRecord(at, s));
    OK(cudaStreamWaitEvent(forked, at, 0));
    add<<<1, N, 0, forked>>>(p, 1);
    OK(cudaGetLastError());
}

// A stream and events that have done their part can be destroyed, and others take their places, before the capture ends.
static void destroyed(void)
{
    cudaStream_t forked;
    cudaEvent_t begins, ends;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int host[N];
    size_t nodes;
    OK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&begins, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&ends, cudaEventDisableTiming));
    fork_off(forked, begins);
    OK(cudaEventRecord(ends, forked));
    OK(cudaStreamWaitEvent(s, ends, 0));
    OK(cudaStreamDestroy(forked));
    OK(cudaEventDestroy(begins));
    OK(cudaEventDestroy(ends));
    CHECK(status(s) == cudaStreamCaptureStatusActive);
    OK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
    CHECK(status(forked) == cudaStreamCaptureStatusNone);
    OK(cudaEventCreateWithFlags(&begins, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&ends, cudaEventDisableTiming));
    OK(cudaEventQuery(begins));
    OK(cudaEventQuery(ends));
    add<<<1, N, 0, s>>>(p, 2);
    OK(cudaGetLastError());
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 3);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    CHECK(host[3] == 3);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));

    // What it issued is still to be joined. The stream on which a capture began takes it along.
    fork_off(forked, begins);
    OK(cudaStreamDestroy(forked));
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureUnjoined && !graph);
    OK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(forked, cudaStreamCaptureModeGlobal));
    OK(cudaStreamDestroy(forked));
    OK(cudaDeviceSynchronize());
    OK(cudaEventDestroy(begins));
    OK(cudaEventDestroy(ends));
}

int main()
{
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaMalloc(&p, N * sizeof *p));
    OK(cudaMalloc(&q, N * sizeof *q));
    captured();
    destroyed();
    forbidden();
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    OK(cudaFree(q));
    return 0;
}
