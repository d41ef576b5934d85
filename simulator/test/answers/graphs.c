// Graphs: their nodes, making them executable, changing them, the memory that they have.
#include "ask.h"

static char host[64];

static void host_function(void *unused) { (void)unused; }

static cudaError_t add_kernel(cudaGraphNode_t *node, cudaGraph_t g, const void *kernel,
                              unsigned blocks, unsigned threads, void **arguments)
{
    struct cudaKernelNodeParams p = { .func = (void *)kernel,
                                      .gridDim = { blocks, 1, 1 },
                                      .blockDim = { threads, 1, 1 },
                                      .kernelParams = arguments };
    return cudaGraphAddKernelNode(node, g, NULL, 0, &p);
}

static cudaError_t add_dependency(cudaGraph_t g, cudaGraphNode_t from, cudaGraphNode_t to)
{
    return cudaGraphAddDependencies(g, &from, &to, NULL, 1);
}

GROUP(graph_nodes, 1)
{
    cudaGraph_t g, h;
    cudaGraphNode_t a, b, c, other, nodes[8];
    size_t count = 0;
    int *d;
    cudaEvent_t e;
    enum cudaGraphNodeType type;
    DO(cudaMalloc((void **)&d, 64));
    DO(cudaEventCreate(&e));
    void *arguments[] = { &d };
    ask("create with flags 1", cudaGraphCreate(&g, 1));
    ask("create to nowhere", cudaGraphCreate(NULL, 0));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphCreate(&h, 0));
    ask("kernel", add_kernel(&a, g, (const void *)add_one, 1, 1, arguments));
    ask("kernel, no blocks", add_kernel(&b, g, (const void *)nothing, 0, 1, NULL));
    ask("kernel, 2048 threads", add_kernel(&b, g, (const void *)nothing, 1, 2048, NULL));
    ask("kernel, null", add_kernel(&b, g, NULL, 1, 1, NULL));
    ask("kernel, host memory", add_kernel(&b, g, host, 1, 1, NULL));
    ask("kernel, no parameters given", cudaGraphAddKernelNode(&b, g, NULL, 0, NULL));
    ask("kernel, to no graph", add_kernel(&b, NULL, (const void *)nothing, 1, 1, NULL));
    struct cudaMemsetParams fill = {
        .dst = d, .value = 1, .elementSize = 4, .width = 4, .height = 1
    };
    ask("fill", cudaGraphAddMemsetNode(&b, g, NULL, 0, &fill));
    fill.elementSize = 3;
    ask("fill, elements of 3 bytes", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.elementSize = 8;
    ask("fill, elements of 8 bytes", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.elementSize = 1, fill.value = 0x1ff;
    ask("fill, a byte of 0x1ff", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.value = 0, fill.height = 0;
    ask("fill, no rows", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.height = 1, fill.width = 0;
    ask("fill, no width", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.width = 4, fill.dst = NULL;
    ask("fill, null", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.dst = host;
    ask("fill, host memory", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    fill.dst = d, fill.width = 100;
    ask("fill, past the end", cudaGraphAddMemsetNode(&c, g, NULL, 0, &fill));
    ask("copy", cudaGraphAddMemcpyNode1D(&c, g, NULL, 0, d, host, 16, cudaMemcpyHostToDevice));
    ask("copy, wrong way round",
        cudaGraphAddMemcpyNode1D(&other, g, NULL, 0, d, host, 16, cudaMemcpyDeviceToHost));
    ask("copy, no bytes",
        cudaGraphAddMemcpyNode1D(&other, g, NULL, 0, d, host, 0, cudaMemcpyHostToDevice));
    ask("copy, null",
        cudaGraphAddMemcpyNode1D(&other, g, NULL, 0, NULL, host, 16, cudaMemcpyHostToDevice));
    ask("copy, past the end",
        cudaGraphAddMemcpyNode1D(&other, g, NULL, 0, d, host, 1 << 22, cudaMemcpyHostToDevice));
    ask("copy, kind 9",
        cudaGraphAddMemcpyNode1D(&other, g, NULL, 0, d, host, 16, (enum cudaMemcpyKind)9));
    struct cudaHostNodeParams call = { .fn = NULL };
    ask("host function, null", cudaGraphAddHostNode(&other, g, NULL, 0, &call));
    ask("event, null", cudaGraphAddEventRecordNode(&other, g, NULL, 0, NULL));
    ask("wait, null", cudaGraphAddEventWaitNode(&other, g, NULL, 0, NULL));
    ask("graph, itself", cudaGraphAddChildGraphNode(&other, g, NULL, 0, g));
    ask("graph, null", cudaGraphAddChildGraphNode(&other, g, NULL, 0, NULL));
    ask("graph, empty", cudaGraphAddChildGraphNode(&other, g, NULL, 0, h));
    ask("empty", cudaGraphAddEmptyNode(&other, h, NULL, 0));
    ask("empty, behind another graph's node", cudaGraphAddEmptyNode(&c, g, &other, 1));
    cudaGraphNode_t twice[] = { a, a };
    ask("empty, twice behind one node", cudaGraphAddEmptyNode(&c, g, twice, 2));
    ask("empty, behind no list", cudaGraphAddEmptyNode(&c, g, NULL, 2));
    DO(cudaGraphAddEmptyNode(&c, g, NULL, 0));
    ask("dependency", add_dependency(g, a, b));
    ask("dependency, again", add_dependency(g, a, b));
    ask("dependency, on itself", add_dependency(g, a, a));
    ask("dependency, a circle of two", add_dependency(g, b, a));
    ask("dependency, on another graph's node", add_dependency(g, a, other));
    ask("dependency, null", cudaGraphAddDependencies(g, NULL, NULL, NULL, 1));
    DO(add_dependency(g, b, c));
    ask("dependency, a circle of three", add_dependency(g, c, a));
    cudaGraphExec_t x = NULL;
    ask("make it executable", cudaGraphInstantiate(&x, g, 0));
    ask("dependency taken that is not there", cudaGraphRemoveDependencies(g, &a, &c, NULL, 1));
    ask("dependency taken", cudaGraphRemoveDependencies(g, &a, &b, NULL, 1));
    ask("nodes", cudaGraphGetNodes(h, NULL, &count));
    tell("nodes", "%zu", count);
    count = 3;
    DO(cudaGraphGetNodes(h, nodes, &count));
    tell("nodes, room for 3", "%zu, the others %s", count, nodes[2] ? "not null" : "null");
    ask("nodes of null", cudaGraphGetNodes(NULL, NULL, &count));
    ask("type", cudaGraphNodeGetType(b, &type));
    tell("type", "%d", (int)type);
    struct cudaKernelNodeParams kernel;
    ask("kernel's parameters of a fill", cudaGraphKernelNodeGetParams(b, &kernel));
    ask("destroy a node", cudaGraphDestroyNode(b));
    ask("destroy null", cudaGraphDestroy(NULL));
    ask("destroy node null", cudaGraphDestroyNode(NULL));
    ask("clone", cudaGraphClone(&h, g));
    ask("clone null", cudaGraphClone(&h, NULL));
}

GROUP(graph_launches, 1)
{
    cudaGraph_t g, circle, h;
    cudaGraphExec_t x, y;
    cudaGraphNode_t a, b, k, f, p, q;
    cudaStream_t s;
    int *d;
    unsigned enabled = 9;
    cudaGraphExecUpdateResultInfo result;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, 64));
    void *arguments[] = { &d };
    DO(cudaGraphCreate(&g, 0));
    ask("instantiate what is empty", cudaGraphInstantiate(&x, g, 0));
    ask("launch what is empty", cudaGraphLaunch(x, s));
    ask("upload", cudaGraphUpload(x, s));
    ask("instantiate null", cudaGraphInstantiate(&y, NULL, 0));
    ask("instantiate to nowhere", cudaGraphInstantiate(NULL, g, 0));
    ask("instantiate with flag 64", cudaGraphInstantiate(&y, g, 64));
    ask("launch null", cudaGraphLaunch(NULL, s));
    ask("destroy null", cudaGraphExecDestroy(NULL));
    DO(cudaGraphCreate(&circle, 0));
    DO(cudaGraphAddEmptyNode(&a, circle, NULL, 0));
    DO(cudaGraphAddEmptyNode(&b, circle, &a, 1));
    cudaGraphAddDependencies(circle, &b, &a, NULL, 1);
    cudaGetLastError();
    ask("instantiate a circle", cudaGraphInstantiate(&y, circle, 0));
    DO(add_kernel(&k, g, (const void *)add_one, 1, 1, arguments));
    struct cudaHostNodeParams call = { .fn = host_function };
    DO(cudaGraphAddHostNode(&f, g, &k, 1, &call));
    struct cudaMemsetParams fill = {
        .dst = d, .value = 1, .elementSize = 4, .width = 4, .height = 1
    };
    DO(cudaGraphAddMemsetNode(&p, g, &f, 1, &fill));
    DO(cudaGraphInstantiate(&x, g, 0));
    ask("disable a kernel", cudaGraphNodeSetEnabled(x, k, 0));
    ask("disable a fill", cudaGraphNodeSetEnabled(x, p, 0));
    ask("disable a host function", cudaGraphNodeSetEnabled(x, f, 0));
    ask("is the host function enabled", cudaGraphNodeGetEnabled(x, f, &enabled));
    tell("enabled", "%u", enabled);
    ask("disable another graph's node", cudaGraphNodeSetEnabled(x, a, 0));
    struct cudaKernelNodeParams params = { .func = (void *)add_one,
                                           .gridDim = { 2, 1, 1 },
                                           .blockDim = { 1, 1, 1 },
                                           .kernelParams = arguments };
    ask("set a kernel's parameters", cudaGraphExecKernelNodeSetParams(x, k, &params));
    params.blockDim.x = 2048;
    ask("set 2048 threads", cudaGraphExecKernelNodeSetParams(x, k, &params));
    params.blockDim.x = 1, params.func = (void *)nothing;
    ask("set another kernel", cudaGraphExecKernelNodeSetParams(x, k, &params));
    ask("set a kernel's parameters on a fill", cudaGraphExecKernelNodeSetParams(x, p, &params));
    ask("set a kernel's parameters on another graph's node",
        cudaGraphExecKernelNodeSetParams(x, a, &params));
    fill.width = 8;
    ask("set a fill's width", cudaGraphExecMemsetNodeSetParams(x, p, &fill));
    fill.width = 4, fill.dst = NULL;
    ask("set a fill's address to null", cudaGraphExecMemsetNodeSetParams(x, p, &fill));
    ask("update with itself", cudaGraphExecUpdate(x, g, &result));
    tell("result", "%d", (int)result.result);
    DO(cudaGraphClone(&h, g));
    DO(cudaGraphAddEmptyNode(&q, h, NULL, 0));
    ask("update, a node more", cudaGraphExecUpdate(x, h, &result));
    tell("result, a node more", "%d", (int)result.result);
    DO(cudaGraphDestroyNode(q));
    ask("update, a clone", cudaGraphExecUpdate(x, h, &result));
    tell("result, a clone", "%d", (int)result.result);
    DO(cudaGraphNodeFindInClone(&q, k, h));
    params.func = (void *)nothing, params.kernelParams = NULL;
    DO(cudaGraphKernelNodeSetParams(q, &params));
    ask("update, another kernel", cudaGraphExecUpdate(x, h, &result));
    tell("result, another kernel", "%d", (int)result.result);
    DO(cudaGraphNodeFindInClone(&q, f, h));
    cudaGraphNode_t from, to;
    DO(cudaGraphNodeFindInClone(&from, k, h));
    DO(cudaGraphNodeFindInClone(&to, p, h));
    DO(cudaGraphRemoveDependencies(h, &q, &to, NULL, 1));
    ask("update, a dependency less", cudaGraphExecUpdate(x, h, &result));
    tell("result, a dependency less", "%d", (int)result.result);
    DO(cudaGraphAddDependencies(h, &from, &to, NULL, 1));
    ask("update, another dependency", cudaGraphExecUpdate(x, h, &result));
    tell("result, another dependency", "%d", (int)result.result);
    DO(cudaGraphDestroy(h));
    DO(cudaGraphCreate(&h, 0));
    DO(add_kernel(&a, h, (const void *)add_one, 1, 1, arguments));
    DO(cudaGraphAddEmptyNode(&b, h, &a, 1));
    // The call's text is part of the record.
    // clang-format off
    DO(cudaGraphAddMemsetNode(&q, h, &b, 1,
       &(struct cudaMemsetParams){ .dst = d, .elementSize = 4, .width = 4, .height = 1 }));
    // clang-format on
    ask("update, another type", cudaGraphExecUpdate(x, h, &result));
    tell("result, another type", "%d", (int)result.result);
    ask("update with null", cudaGraphExecUpdate(x, NULL, &result));
    ask("update to nowhere", cudaGraphExecUpdate(x, g, NULL));
    ask("find in what is no clone", cudaGraphNodeFindInClone(&q, k, circle));
    DO(cudaMemset(d, 0, 64));
    ask("launch", cudaGraphLaunch(x, s));
    ask("launch again", cudaGraphLaunch(x, s));
    ask("destroy it while it runs", cudaGraphExecDestroy(x));
    ask("destroy the graph", cudaGraphDestroy(g));
    ask("afterwards", cudaDeviceSynchronize());
}

static void graph_memory(const char *when)
{
    for (int a = 0; a < 4; a++) {
        char question[80];
        unsigned long long value = 0;
        cudaError_t error =
            cudaDeviceGetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)a, &value);
        snprintf(question, sizeof question, "attribute %d %s", a, when);
        tell(question, "%s, %llu", cudaGetErrorName(error), value);
    }
}

GROUP(graph_memory, 1)
{
    cudaGraph_t g, h, clone;
    cudaGraphExec_t x, y;
    cudaGraphNode_t a, b, f;
    cudaStream_t s;
    char *d;
    unsigned long long value = 0;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, 64));
    graph_memory("before");
    struct cudaMemAllocNodeParams p = {
        .poolProps = { .allocType = cudaMemAllocationTypePinned,
                       .location = { .type = cudaMemLocationTypeDevice, .id = 0 } },
        .bytesize = 4096
    };
    DO(cudaGraphCreate(&g, 0));
    ask("allocate", cudaGraphAddMemAllocNode(&a, g, NULL, 0, &p));
    struct cudaMemAllocNodeParams none = p, away = p;
    none.bytesize = 0;
    ask("allocate nothing", cudaGraphAddMemAllocNode(&b, g, NULL, 0, &none));
    away.poolProps.location.id = 99;
    ask("allocate on device 99", cudaGraphAddMemAllocNode(&b, g, NULL, 0, &away));
    away.poolProps.location.id = 0, away.poolProps.allocType = cudaMemAllocationTypeInvalid;
    ask("allocate of no type", cudaGraphAddMemAllocNode(&b, g, NULL, 0, &away));
    ask("free what is not the graph's", cudaGraphAddMemFreeNode(&f, g, NULL, 0, d));
    ask("free null", cudaGraphAddMemFreeNode(&f, g, NULL, 0, NULL));
    ask("free inside", cudaGraphAddMemFreeNode(&f, g, &a, 1, (char *)p.dptr + 16));
    graph_memory("with a node");
    ask("instantiate without a free", cudaGraphInstantiate(&x, g, 0));
    graph_memory("instantiated");
    ask("launch", cudaGraphLaunch(x, s));
    DO(cudaStreamSynchronize(s));
    graph_memory("launched");
    ask("launch while it is allocated", cudaGraphLaunch(x, s));
    ask("cudaFree of it", cudaFree(p.dptr));
    graph_memory("freed");
    ask("cudaFree of it twice", cudaFree(p.dptr));
    ask("instantiate again", cudaGraphInstantiate(&y, g, 0));
    ask("destroy the executable one", cudaGraphExecDestroy(x));
    ask("instantiate again then",
        cudaGraphInstantiate(&y, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    ask("launch it", cudaGraphLaunch(y, s));
    ask("launch it again", cudaGraphLaunch(y, s));
    DO(cudaStreamSynchronize(s));
    ask("clone", cudaGraphClone(&clone, g));
    ask("destroy the node", cudaGraphDestroyNode(a));
    DO(cudaGraphCreate(&h, 0));
    ask("into another graph", cudaGraphAddChildGraphNode(&b, h, NULL, 0, g));
    p.bytesize = 40 << 20;
    DO(cudaGraphAddMemAllocNode(&a, h, NULL, 0, &p));
    ask("free it in the graph", cudaGraphAddMemFreeNode(&f, h, &a, 1, p.dptr));
    ask("free it in the graph twice", cudaGraphAddMemFreeNode(&b, h, &f, 1, p.dptr));
    ask("instantiate with a free", cudaGraphInstantiate(&x, h, 0));
    ask("launch with a free", cudaGraphLaunch(x, s));
    ask("launch with a free again", cudaGraphLaunch(x, s));
    DO(cudaStreamSynchronize(s));
    graph_memory("with 40 MiB more, freed");
    ask("cudaFree of what the graph frees", cudaFree(p.dptr));
    ask("trim", cudaDeviceGraphMemTrim(0));
    graph_memory("trimmed");
    ask("trim device 99", cudaDeviceGraphMemTrim(99));
    ask("set a high mark to 0",
        cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
    graph_memory("with the mark set");
    value = 5;
    ask("set a high mark to 5",
        cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value));
    ask("set what is used",
        cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value));
    ask("attribute 9",
        cudaDeviceGetGraphMemAttribute(0, (enum cudaGraphMemAttributeType)9, &value));
    ask("attribute of device 99",
        cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &value));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(user_objects, 1)
{
    cudaUserObject_t object;
    cudaGraph_t g;
    DO(cudaGraphCreate(&g, 0));
    ask("no references",
        cudaUserObjectCreate(&object, host, host_function, 0, cudaUserObjectNoDestructorSync));
    ask("no flags", cudaUserObjectCreate(&object, host, host_function, 1, 0));
    ask("no function",
        cudaUserObjectCreate(&object, host, NULL, 1, cudaUserObjectNoDestructorSync));
    ask("create",
        cudaUserObjectCreate(&object, host, host_function, 1, cudaUserObjectNoDestructorSync));
    ask("retain 0", cudaUserObjectRetain(object, 0));
    ask("give it to a graph", cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
    ask("take back what it has not", cudaGraphReleaseUserObject(g, object, 5));
    ask("give null", cudaGraphRetainUserObject(g, NULL, 1, 0));
}

static cudaError_t add_condition(cudaGraph_t g, cudaGraphConditionalHandle handle, int type,
                                 unsigned size, cudaGraph_t *body)
{
    cudaGraphNode_t node;
    struct cudaGraphNodeParams p;
    memset(&p, 0, sizeof p);
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = handle;
    p.conditional.type = (enum cudaGraphConditionalNodeType)type;
    p.conditional.size = size;
    cudaError_t error = cudaGraphAddNode(&node, g, NULL, NULL, 0, &p);
    if (!error && body) *body = p.conditional.phGraph_out[0];
    return error;
}

GROUP(conditions, 1)
{
    cudaGraph_t g, h, body = NULL, clone;
    cudaGraphExec_t x, y;
    cudaGraphConditionalHandle mine, second, third, theirs;
    cudaGraphNode_t node;
    cudaStream_t s;
    int *d;
    DO(cudaMalloc((void **)&d, 64));
    DO(cudaStreamCreate(&s));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphCreate(&h, 0));
    ask("handle of no graph", cudaGraphConditionalHandleCreate(&mine, NULL, 0, 0));
    ask("handle to nowhere", cudaGraphConditionalHandleCreate(NULL, g, 0, 0));
    ask("handle with flags 2", cudaGraphConditionalHandleCreate(&mine, g, 0, 2));
    ask("handle", cudaGraphConditionalHandleCreate(&mine, g, 0, cudaGraphCondAssignDefault));
    DO(cudaGraphConditionalHandleCreate(&second, g, 0, cudaGraphCondAssignDefault));
    DO(cudaGraphConditionalHandleCreate(&third, g, 0, cudaGraphCondAssignDefault));
    DO(cudaGraphConditionalHandleCreate(&theirs, h, 0, 0));
    ask("loop of two graphs", add_condition(g, mine, cudaGraphCondTypeWhile, 2, NULL));
    ask("loop of none", add_condition(g, mine, cudaGraphCondTypeWhile, 0, NULL));
    ask("choice of three", add_condition(g, mine, cudaGraphCondTypeIf, 3, NULL));
    ask("switch of none", add_condition(g, mine, cudaGraphCondTypeSwitch, 0, NULL));
    ask("of type 9", add_condition(g, mine, 9, 1, NULL));
    ask("loop", add_condition(g, mine, cudaGraphCondTypeWhile, 1, &body));
    ask("a handle twice", add_condition(g, mine, cudaGraphCondTypeWhile, 1, NULL));
    ask("another graph's handle", add_condition(g, theirs, cudaGraphCondTypeWhile, 1, NULL));
    struct cudaHostNodeParams call = { .fn = host_function };
    ask("a host function in it", cudaGraphAddHostNode(&node, body, NULL, 0, &call));
    ask("a kernel in it", add_kernel(&node, body, (const void *)nothing, 1, 1, NULL));
    ask("destroy its graph", cudaGraphDestroy(body));
    ask("instantiate its graph", cudaGraphInstantiate(&y, body, 0));
    ask("instantiate", cudaGraphInstantiate(&x, g, 0));
    ask("instantiate again", cudaGraphInstantiate(&y, g, 0));
    ask("clone", cudaGraphClone(&clone, g));
    DO(cudaGraphCreate(&h, 0));
    DO(cudaGraphConditionalHandleCreate(&third, h, 0, cudaGraphCondAssignDefault));
    DO(add_condition(h, third, cudaGraphCondTypeIf, 1, &body));
    DO(add_kernel(&node, body, (const void *)nothing, 1, 1, NULL));
    ask("instantiate a choice", cudaGraphInstantiate(&x, h, 0));
    ask("launch it", cudaGraphLaunch(x, s));
    ask("instantiate it again", cudaGraphInstantiate(&y, h, 0));
    ask("clone it", cudaGraphClone(&clone, h));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(graph_memory_shared, 1)
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t a, b;
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaGraphCreate(&g, 0));
    struct cudaMemAllocNodeParams p = { .poolProps = { .allocType = cudaMemAllocationTypePinned,
                                                       .location = { .type =
                                                                         cudaMemLocationTypeDevice,
                                                                     .id = 0 } },
                                        .bytesize = 4096 },
                                  q = p;
    DO(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &p));
    DO(cudaGraphAddMemAllocNode(&b, g, &a, 1, &q));
    DO(cudaGraphInstantiate(&x, g, 0));
    DO(cudaGraphLaunch(x, s));
    DO(cudaStreamSynchronize(s));
    graph_memory("with two of 4096 bytes");
    DO(cudaFree(p.dptr));
    graph_memory("with one freed");
    DO(cudaDeviceGraphMemTrim(0));
    graph_memory("with one freed, trimmed");
    DO(cudaFree(q.dptr));
    DO(cudaDeviceGraphMemTrim(0));
    graph_memory("with both freed, trimmed");
}
