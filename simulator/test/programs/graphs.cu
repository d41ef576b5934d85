// expect: api 121, api 126, exit 0
// says: cudaGraphInstantiate was given a graph that is no more
// says: cudaGraphLaunch was given an executable graph that is no more
// Graphs made of nodes, and their clones and updates.
#include "check.h"
#include <string.h>

enum { N = 64 };

__global__ void add(int *p, int value) { p[threadIdx.x] += value; }
__global__ void sum(int *to, const int *a, const int *b) { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
__device__ int variable[N];

static int calls;
static void count(void *by) { calls += *(int *)by; }

static cudaKernelNodeParams kernel(const void *function, void **arguments)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)function;
    p.gridDim = dim3(1);
    p.blockDim = dim3(N);
    p.kernelParams = arguments;
    return p;
}

// Filled, added to on two branches, summed up, copied out, counted on the host.
static void built(void)
{
    int *a, *b, *c, host[N], one = 1, two = 2, ten = 10, by = 3;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t zero, copy, left, right, both, home, tell, nothing;
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMalloc(&b, sizeof host));
    OK(cudaMalloc(&c, sizeof host));
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = a, fill.value = 0x01020304, fill.elementSize = 4, fill.width = N, fill.height = 1;
    OK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &fill));
    fill.dst = (char *)fill.dst + 1;                            // no whole elements lie there
    CHECK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &fill) == cudaErrorInvalidValue);
    fill.dst = (char *)fill.dst - 1;
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &zero, 1, b, a, sizeof host, cudaMemcpyDeviceToDevice));
    void *to_left[] = { &a, &one }, *to_right[] = { &b, &two }, *to_both[] = { &c, &a, &b };
    cudaKernelNodeParams p = kernel((void *)add, to_left);
    OK(cudaGraphAddKernelNode(&left, graph, &copy, 1, &p));
    p = kernel((void *)add, to_right);
    OK(cudaGraphAddKernelNode(&right, graph, &copy, 1, &p));
    p = kernel((void *)sum, to_both);
    OK(cudaGraphAddKernelNode(&both, graph, NULL, 0, &p));
    cudaGraphNode_t from[] = { left, right }, to[] = { both, both };
    OK(cudaGraphAddDependencies(graph, from, to, NULL, 2));
    CHECK(cudaGraphAddDependencies(graph, from, to, NULL, 1) == cudaErrorInvalidValue);
    OK(cudaGraphAddMemcpyNode1D(&home, graph, &both, 1, host, c, sizeof host, cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = { count, &by };
    OK(cudaGraphAddHostNode(&tell, graph, &home, 1, &call));
    OK(cudaGraphAddEmptyNode(&nothing, graph, &tell, 1));
    one = two = 0;                              // a node has its arguments as they were

    size_t nodes = 0, roots = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(nodes == 8 && roots == 1 && edges == 8);
    cudaGraphNode_t got[2];
    nodes = 2;
    OK(cudaGraphNodeGetDependencies(both, got, NULL, &nodes));
    CHECK(nodes == 2 && got[0] == left && got[1] == right);
    nodes = 2;
    OK(cudaGraphNodeGetDependentNodes(copy, got, NULL, &nodes));
    CHECK(nodes == 2 && got[0] == left && got[1] == right);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(home, &type));
    CHECK(type == cudaGraphNodeTypeMemcpy);

    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaStreamSynchronize(0));
    for (int i = 0; i < N; i++)
        CHECK(host[i] == 2 * 0x01020304 + 3);
    CHECK(calls == 3);

    // The executable graph with other arguments, without a node, and updated from the graph.
    void *more[] = { &a, &ten };
    p = kernel((void *)add, more);
    OK(cudaGraphExecKernelNodeSetParams(exec, left, &p));
    fill.value = 0;
    OK(cudaGraphExecMemsetNodeSetParams(exec, zero, &fill));
    OK(cudaGraphNodeSetEnabled(exec, right, 0));
    unsigned enabled = 1;
    OK(cudaGraphNodeGetEnabled(exec, right, &enabled));
    CHECK(!enabled);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host[5] == 10 && calls == 6);
    OK(cudaGraphKernelNodeGetParams(left, &p));
    CHECK(p.blockDim.x == N && *(int *)p.kernelParams[1] == 1 && p.func == (void *)add);
    OK(cudaGraphMemsetNodeGetParams(zero, &fill));
    CHECK(fill.value == 0x01020304 && fill.width == N && fill.elementSize == 4);
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(host[5] == 2 * 0x01020304 + 1);       // `right` is still left out

    // A clone is a graph of its own; one with another shape cannot update.
    cudaGraph_t clone;
    cudaGraphNode_t in_clone;
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&in_clone, tell, clone));
    CHECK(in_clone != tell);
    OK(cudaGraphDestroyNode(in_clone));
    CHECK(cudaGraphExecUpdate(exec, clone, &info) == cudaErrorGraphExecUpdateFailure);
    CHECK(info.result != cudaGraphExecUpdateSuccess);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, clone, 0));
    OK(cudaGraphDestroy(clone));
    cudaGraphExec_t none;
    CHECK(cudaGraphInstantiate(&none, clone, 0) == cudaErrorInvalidValue);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(calls == 9);
    OK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphLaunch(exec, 0) == cudaErrorInvalidValue);

    OK(cudaGraphRemoveDependencies(graph, from, to, NULL, 1));
    cudaGraphNode_t back = both, forth = copy;
    OK(cudaGraphAddDependencies(graph, &back, &forth, NULL, 1));        // a circle
    CHECK(cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess);
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
}

// A graph updates another whose nodes were made in another order; they are still known by those of the first. And what a node
// says of the rows that it copies.
static void made_backwards(void)
{
    int *p, host[8 * N] = {}, three = 3;
    cudaGraph_t graph, backwards;
    cudaGraphNode_t zero, more, last, first;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&backwards, 0));
    void *arguments[] = { &p, &three };
    cudaKernelNodeParams adds = kernel((void *)add, arguments);
    cudaMemsetParams fill = {};
    fill.dst = p, fill.value = 1, fill.elementSize = 4, fill.width = N, fill.height = 1;
    OK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &fill));
    OK(cudaGraphAddKernelNode(&more, graph, &zero, 1, &adds));
    fill.value = 2;
    OK(cudaGraphAddKernelNode(&last, backwards, NULL, 0, &adds));
    OK(cudaGraphAddMemsetNode(&first, backwards, NULL, 0, &fill));
    OK(cudaGraphAddDependencies(backwards, &first, &last, NULL, 1));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecUpdate(exec, backwards, &info));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(host, p, N * sizeof *host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 5 && host[N - 1] == 5);
    three = 4;
    OK(cudaGraphExecKernelNodeSetParams(exec, more, &adds));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(host, p, N * sizeof *host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 6 && host[N - 1] == 6);
    OK(cudaGraphExecDestroy(exec));

    cudaMemcpy3DParms rows = {}, got;
    rows.srcPtr = make_cudaPitchedPtr(host, 16, 8, 4);
    rows.dstPtr = make_cudaPitchedPtr(p, 64, 32, 8);
    rows.extent = make_cudaExtent(8, 2, 2);
    rows.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphAddMemcpyNode(&last, graph, NULL, 0, &rows));
    OK(cudaGraphMemcpyNodeGetParams(last, &got));
    CHECK(got.srcPtr.pitch == 16 && got.srcPtr.ysize == 4 && got.dstPtr.pitch == 64 && got.dstPtr.ysize == 8);
    CHECK(got.extent.width == 8 && got.extent.height == 2 && got.extent.depth == 2);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(backwards));
    OK(cudaFree(p));
}

// A graph inside of a graph, between copies to and from a variable; events in it; any kind by one call.
static void nested(void)
{
    int host[N] = {}, *p, five = 5;
    cudaGraph_t outer, inner, held;
    cudaGraphExec_t exec;
    cudaGraphNode_t in, child, out, record;
    cudaEvent_t done;
    OK(cudaEventCreate(&done));
    OK(cudaGetSymbolAddress((void **)&p, variable));
    OK(cudaGraphCreate(&inner, 0));
    void *arguments[] = { &p, &five };
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = (void *)add;
    any.kernel.gridDim.x = any.kernel.gridDim.y = any.kernel.gridDim.z = 1;
    any.kernel.blockDim.x = N, any.kernel.blockDim.y = any.kernel.blockDim.z = 1;
    any.kernel.kernelParams = arguments;
    cudaGraphNode_t first, second;
    OK(cudaGraphAddNode(&first, inner, NULL, NULL, 0, &any));
    OK(cudaGraphAddNode(&second, inner, &first, NULL, 1, &any));
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&in, outer, NULL, 0, variable, host, sizeof host, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphAddChildGraphNode(&child, outer, &in, 1, inner));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&out, outer, &child, 1, host, variable, sizeof host, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddEventRecordNode(&record, outer, &out, 1, done));
    OK(cudaGraphChildGraphNodeGetGraph(child, &held));
    CHECK(held != inner && cudaGraphDestroy(held) == cudaErrorInvalidValue);
    OK(cudaGraphDestroy(inner));
    OK(cudaGraphInstantiateWithFlags(&exec, outer, 0));
    for (int i = 1; i <= 3; i++) {
        OK(cudaGraphLaunch(exec, 0));
        OK(cudaEventSynchronize(done));
        CHECK(host[7] == 10 * i);               // the copy in reads what is there when it is launched
    }
    OK(cudaGraphDebugDotPrint(outer, "/dev/null", 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(outer));
    OK(cudaEventDestroy(done));
}

// Kernels of one graph follow one another faster than launches, and branches overlap.
static void timed(void)
{
    char *device, *other, *host, *back;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, last = NULL;
    cudaEvent_t from, to;
    float launches, chain, branches, one;
    int *p, zero = 0;
    const size_t bytes = 8 << 20;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMallocHost(&host, bytes));
    OK(cudaMallocHost(&back, bytes));
    OK(cudaMalloc(&device, bytes));
    OK(cudaMalloc(&other, bytes));
    OK(cudaMemset(other, 0, bytes));
    OK(cudaMalloc(&p, N * sizeof *p));
    OK(cudaMemset(p, 0, N * sizeof *p));
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from, s));
    for (int i = 0; i < 20; i++)
        add<<<1, N, 0, s>>>(p, zero);
    OK(cudaEventRecord(to, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventElapsedTime(&launches, from, to));
    OK(cudaGraphCreate(&graph, 0));
    void *arguments[] = { &p, &zero };
    cudaKernelNodeParams k = kernel((void *)add, arguments);
    for (int i = 0; i < 20; i++) {
        OK(cudaGraphAddKernelNode(&node, graph, &last, i > 0, &k));
        last = node;
    }
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(from, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaEventRecord(to, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventElapsedTime(&chain, from, to));
    CHECK(chain < 0.75f * launches);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));

    OK(cudaEventRecord(from, s));
    OK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(to, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventElapsedTime(&one, from, to));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, host, bytes, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, back, other, bytes, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventRecord(from, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaEventRecord(to, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaEventElapsedTime(&branches, from, to));
    CHECK(branches >= one && branches < 1.2f * one);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(s));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    OK(cudaFreeHost(host));
    OK(cudaFreeHost(back));
    OK(cudaFree(device));
    OK(cudaFree(other));
    OK(cudaFree(p));
}

// An executable graph and a clone are there when what they were made of is gone; nodes that are made later are not theirs.
static void outlived(void)
{
    int *p, host[N], one = 1;
    cudaGraph_t graph, clone, later;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, found;
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemset(p, 0, sizeof host));
    void *arguments[] = { &p, &one };
    cudaKernelNodeParams adds = kernel((void *)add, arguments);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &adds));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphCreate(&later, 0));
    one = 5;
    for (int i = 0; i < 8; i++) {
        OK(cudaGraphAddKernelNode(&node, later, NULL, 0, &adds));
        CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &adds) == cudaErrorInvalidValue);
        CHECK(cudaGraphNodeSetEnabled(exec, node, 0) == cudaErrorInvalidValue);
        CHECK(cudaGraphNodeFindInClone(&found, node, clone) == cudaErrorInvalidValue);
    }
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[7] == 1);
    OK(cudaGraphDestroy(later));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaFree(p));
}

int main()
{
    built();
    made_backwards();
    outlived();
    nested();
    timed();
    return 0;
}
