// expect: uninitialized 22, use-after-free 15
// says: a branch depends on
// Graphs that allocate and free: captured, and node by node. An address is known when the node is made and the same in each
// launch; the memory is new in each. What a graph leaves allocated the program frees, or a launch that may.
#include "check.h"

enum { N = 1024, BYTES = N * sizeof(int), CHUNK = 32 << 20 };        // what a graph has of the device: whole chunks

__global__ void fill(int *p, int value) { p[threadIdx.x] = value + threadIdx.x; }

__global__ void add(int *out, const int *a, const int *b) { out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }

__global__ void late(int *p)
{
    p[5] = 1;
}

__global__ void unwritten(int *out, const int *p)
{
    if (out[0] == 0)
        return;
    if (p[7] > 3) {
        for (int i = 0; i < 100; i++) out[i] = i;
    }
}

static cudaStream_t s;
static int *out, host[N];

static unsigned long long attribute(cudaGraphMemAttributeType which)
{
    unsigned long long value;
    OK(cudaDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

static void expect(int value)
{
    OK(cudaMemcpyAsync(host, out, BYTES, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == value + 2 * i);
}

// Two branches, each with memory of its own.
static void captured()
{
    int *a, *b;
    cudaStream_t t;
    cudaEvent_t fork, join;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec, second;
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaFreeAsync(out, s) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);   // and it goes on
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork));
    OK(cudaMallocAsync(&a, BYTES, s));
    fill<<<1, N, 0, s>>>(a, 1);
    OK(cudaMallocAsync(&b, BYTES, t));
    fill<<<1, N, 0, t>>>(b, 10);
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join));
    add<<<1, N, 0, s>>>(out, a, b);
    OK(cudaFreeAsync(a, s));
    OK(cudaFreeAsync(b, s));
    OK(cudaStreamEndCapture(s, &graph));
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 0);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported);
    CHECK(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
    cudaGetLastError();
    for (int n = 0; n < 3; n++)                 // without a wait between them
        OK(cudaGraphLaunch(exec, s));
    expect(11);
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == CHUNK && attribute(cudaGraphMemAttrUsedMemHigh) == CHUNK);
    CHECK(attribute(cudaGraphMemAttrReservedMemCurrent) > 0);
    OK(cudaDeviceGraphMemTrim(0));              // until then a graph keeps what it had
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 0 && attribute(cudaGraphMemAttrReservedMemCurrent) == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(t));
}

// Nobody in the graph frees it.
static void left()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t alloc, node, release;
    cudaMemAllocNodeParams p = {}, asked;
    cudaMemAccessDesc own = { { cudaMemLocationTypeDevice, 0 }, cudaMemAccessFlagsProtReadWrite };
    cudaGraphNodeType type;
    void *freed;
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.poolProps.location.id = 0;
    p.bytesize = BYTES;
    p.accessDescCount = 1;
    OK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    p.accessDescs = &own;
    OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    OK(cudaGraphNodeGetType(alloc, &type));
    CHECK(type == cudaGraphNodeTypeMemAlloc);
    OK(cudaGraphMemAllocNodeGetParams(alloc, &asked));
    CHECK(asked.dptr == p.dptr && asked.bytesize == BYTES);
    int *a = (int *)p.dptr, value = 5;
    void *arguments[] = { &a, &value };
    cudaKernelNodeParams kernel = { (void *)fill, 1, N, 0, arguments, NULL };
    OK(cudaGraphAddKernelNode(&node, graph, &alloc, 1, &kernel));
    CHECK(cudaGraphDestroyNode(node) == cudaErrorNotSupported);
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &node, 1, out) == cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == CHUNK);
    CHECK(cudaGraphLaunch(exec, s) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
    add<<<1, N, 0, s>>>(out, a, a);
    OK(cudaFreeAsync(a, s));
    expect(10);
    OK(cudaGraphLaunch(exec, s));               // now it may
    OK(cudaStreamSynchronize(s));
    OK(cudaFree(a));
    OK(cudaGraphExecDestroy(exec));

    OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    add<<<1, N, 0, s>>>(out, a, a);
    expect(10);
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == CHUNK);
    OK(cudaFree(a));
    OK(cudaGraphExecDestroy(exec));

    OK(cudaGraphAddMemFreeNode(&release, graph, &node, 1, a));
    OK(cudaGraphMemFreeNodeGetParams(release, &freed));
    CHECK(freed == a);
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &node, 1, a) == cudaErrorInvalidValue);     // once
    cudaGetLastError();
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == CHUNK);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

// Executable graphs outlive the graphs that they were made of, and say nothing about those that are made later.
static void outlived()
{
    enum { MANY = 12 };
    int *a;
    cudaGraph_t graph;
    cudaGraphExec_t exec[MANY];
    for (int i = 0; i < MANY; i++) {
        OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        OK(cudaMallocAsync(&a, BYTES, s));
        fill<<<1, N, 0, s>>>(a, i);
        add<<<1, N, 0, s>>>(out, a, a);
        OK(cudaFreeAsync(a, s));
        OK(cudaStreamEndCapture(s, &graph));
        OK(cudaGraphInstantiate(&exec[i], graph, 0));
        OK(cudaGraphDestroy(graph));
    }
    for (int i = 0; i < MANY; i++) {
        OK(cudaGraphLaunch(exec[i], s));
        expect(2 * i);
        OK(cudaGraphExecDestroy(exec[i]));
    }
}

// What one launch wrote the next does not find; nor is it there for others afterwards.
static void wrong()
{
    int *a;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&a, BYTES, s));
    unwritten<<<1, 1, 0, s>>>(out, a);
    fill<<<1, N, 0, s>>>(a, 1);
    OK(cudaFreeAsync(a, s));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaMemsetAsync(out, 0, BYTES, s));
    OK(cudaGraphLaunch(exec, s));               // does not look
    OK(cudaMemsetAsync(out, 1, BYTES, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    late<<<1, 1, 0, s>>>(a);
    CHECK(cudaStreamSynchronize(s) == cudaErrorIllegalAddress);
}

int main()
{
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc(&out, BYTES));
    captured();
    left();
    outlived();
    wrong();
    return 0;
}
