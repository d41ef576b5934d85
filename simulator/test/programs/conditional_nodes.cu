// expect: exit 0
// Graphs whose kernels decide what of them runs: a loop, either of two, one of many, each inside of others; with first values
// that each launch assigns anew.
#include "check.h"

__global__ void add(int *p, int value) { *p += value; }

__global__ void count_down(int *left, cudaGraphConditionalHandle loop)
{
    *left -= 1;
    cudaGraphSetConditional(loop, *left > 0);
}

// Odd numbers take the first graph, even ones the second.
__global__ void choose(const int *left, cudaGraphConditionalHandle odd) { cudaGraphSetConditional(odd, *left & 1); }

__global__ void number(cudaGraphConditionalHandle which, const int *value) { cudaGraphSetConditional(which, *value); }

static int *p;
static cudaStream_t s;

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t *after, void *function, void **arguments)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams params = { function, 1, 1, 0, arguments, NULL };
    OK(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t adds(cudaGraph_t graph, cudaGraphNode_t *after, int *to, int value)
{
    void *arguments[] = { &to, &value };
    return kernel(graph, after, (void *)add, arguments);
}

static cudaGraph_t *condition(cudaGraph_t graph, cudaGraphNode_t *after, cudaGraphConditionalHandle handle,
                              cudaGraphConditionalNodeType type, unsigned size, cudaGraphNode_t *node)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    OK(cudaGraphAddNode(node, graph, after, NULL, after ? 1 : 0, &params));
    return params.conditional.phGraph_out;
}

static void expect(int a, int b, int c, int d)
{
    int host[4];
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    if (host[0] != a || host[1] != b || host[2] != c || host[3] != d)
        fprintf(stderr, "%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    CHECK(host[0] == a && host[1] == b && host[2] == c && host[3] == d);
}

// p[0] counts down from 5; p[1] grows by 1 where it is odd, p[2] by 10 where it is even; p[3] tells that all is done.
static void loop_with_a_choice()
{
    cudaGraph_t graph, copy;
    cudaGraphExec_t exec, second;
    cudaGraphNode_t first, loop_node, choice_node, node;
    cudaGraphConditionalHandle loop, odd;
    cudaGraphNodeType type;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    OK(cudaGraphConditionalHandleCreate(&odd, graph, 0, 0));
    first = adds(graph, NULL, p, 5);
    cudaGraph_t body = condition(graph, &first, loop, cudaGraphCondTypeWhile, 1, &loop_node)[0];
    adds(graph, &loop_node, p + 3, 100);
    OK(cudaGraphNodeGetType(loop_node, &type));
    CHECK(type == cudaGraphNodeTypeConditional);

    void *choosing[] = { &p, &odd }, *counting[] = { &p, &loop };
    node = kernel(body, NULL, (void *)choose, choosing);
    cudaGraph_t *sides = condition(body, &node, odd, cudaGraphCondTypeIf, 2, &choice_node);
    adds(sides[0], NULL, p + 1, 1);
    adds(sides[1], NULL, p + 2, 10);
    kernel(body, &choice_node, (void *)count_down, counting);

    CHECK(cudaGraphClone(&copy, graph) == cudaErrorNotSupported);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphInstantiate(&second, graph, 0) == cudaErrorNotSupported);            // one at a time
    CHECK(cudaGraphInstantiate(&second, body, 0) == cudaErrorNotSupported);
    OK(cudaGraphCreate(&copy, 0));
    CHECK(cudaGraphAddChildGraphNode(&node, copy, NULL, 0, graph) == cudaErrorNotSupported);
    OK(cudaGraphDestroy(copy));
    cudaGetLastError();
    OK(cudaMemsetAsync(p, 0, 16, s));
    OK(cudaGraphLaunch(exec, s));
    expect(0, 3, 20, 100);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    expect(0, 9, 60, 300);
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    OK(cudaGraphLaunch(exec, s));
    expect(0, 12, 80, 400);
    CHECK(cudaGraphDestroy(body) == cudaErrorInvalidValue);         // it is the node's
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

// A body that is captured, one of three; with a value too large none is run.
static void one_of_three()
{
    cudaGraph_t graph, whole;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, choice;
    cudaGraphConditionalHandle which;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
    void *arguments[] = { &which, &p };
    node = kernel(graph, NULL, (void *)number, arguments);
    cudaGraph_t *bodies = condition(graph, &node, which, cudaGraphCondTypeSwitch, 3, &choice);
    for (int i = 0; i < 3; i++) {
        OK(cudaStreamBeginCaptureToGraph(s, bodies[i], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
        add<<<1, 1, 0, s>>>(p + 1 + i, 7);
        add<<<1, 1, 0, s>>>(p, 1);
        OK(cudaStreamEndCapture(s, &whole));
        CHECK(whole == bodies[i]);
    }
    adds(graph, &choice, p + 3, 1000);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaMemsetAsync(p, 0, 16, s));
    for (int i = 0; i < 4; i++)
        OK(cudaGraphLaunch(exec, s));
    expect(3, 7, 7, 4007);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

int main()
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams params = {};
    OK(cudaMalloc(&p, 16));
    OK(cudaStreamCreate(&s));
    loop_with_a_choice();
    one_of_three();
    OK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, NULL, 0, 0) == cudaErrorInvalidValue);
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 2;                // a loop has one
    CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params) == cudaErrorInvalidValue);
    params.conditional.size = 1;
    params.conditional.handle = handle + 1000;
    CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &params) == cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(p));
    return 0;
}
