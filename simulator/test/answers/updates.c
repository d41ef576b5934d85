// Graphs that change: parameters of nodes and of executables, updates with other topologies,
// attributes of kernel nodes.
#include "ask.h"

static char host[256], other_host[256];

static void host_function(void *unused) { (void)unused; }
static void another_function(void *unused) { (void)unused; }

// A kernel, a fill and a copy in, one behind the other; and, after one of them, an empty node.
typedef struct {
    cudaGraph_t g;
    cudaGraphNode_t kernel, fill, copy, call;
} Chain;

static Chain chain(char *d)
{
    Chain c;
    static char *to;
    static void *arguments[] = { &to };
    to = d;
    struct cudaKernelNodeParams kernel = kernel_of((const void *)add_one, 1, arguments);
    struct cudaMemsetParams fill = {
        .dst = d, .value = 1, .elementSize = 4, .width = 4, .height = 1
    };
    struct cudaHostNodeParams call = { .fn = host_function, .userData = host };
    DO(cudaGraphCreate(&c.g, 0));
    DO(cudaGraphAddKernelNode(&c.kernel, c.g, NULL, 0, &kernel));
    DO(cudaGraphAddMemsetNode(&c.fill, c.g, &c.kernel, 1, &fill));
    DO(cudaGraphAddMemcpyNode1D(&c.copy, c.g, &c.fill, 1, d, host, 16, cudaMemcpyHostToDevice));
    DO(cudaGraphAddHostNode(&c.call, c.g, &c.copy, 1, &call));
    return c;
}

static const char *node_name(const Chain *c, cudaGraphNode_t node)
{
    return !node             ? "null"
         : node == c->kernel ? "the kernel"
         : node == c->fill   ? "the fill"
         : node == c->copy   ? "the copy"
         : node == c->call   ? "the function"
                             : "another";
}

static void update(const char *question, cudaGraphExec_t x, Chain *c)
{
    cudaGraphExecUpdateResultInfo info;
    memset(&info, 0x55, sizeof info);
    cudaError_t error = cudaGraphExecUpdate(x, c->g, &info), last = cudaGetLastError();
    tell(question, "%s, last error %s, result %d, node %s, from %s", cudaGetErrorName(error),
         cudaGetErrorName(last), (int)info.result, node_name(c, info.errorNode),
         node_name(c, info.errorFromNode));
}

GROUP(graph_updates, 1)
{
    char *d, *e, *more;
    cudaGraphExec_t x;
    cudaGraphNode_t extra;
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaMalloc((void **)&e, 4096));
    DO(cudaMalloc((void **)&more, 4096));
    void *arguments[] = { &e };
    Chain first = chain(d), c;
    DO(cudaGraphInstantiate(&x, first.g, 0));
    c = chain(d);
    update("the same again", x, &c);
    c = chain(e);
    update("another address", x, &c);
    c = chain(d);
    struct cudaKernelNodeParams kernel = kernel_of((const void *)add_one, 7, arguments);
    DO(cudaGraphKernelNodeSetParams(c.kernel, &kernel));
    update("more blocks", x, &c);
    kernel.func = (void *)nothing, kernel.kernelParams = NULL;
    DO(cudaGraphKernelNodeSetParams(c.kernel, &kernel));
    update("another kernel", x, &c);
    c = chain(d);
    struct cudaMemsetParams fill = {
        .dst = d, .value = 3, .elementSize = 1, .width = 16, .height = 1
    };
    DO(cudaGraphMemsetNodeSetParams(c.fill, &fill));
    update("a fill of bytes", x, &c);
    fill.width = 4, fill.height = 4, fill.pitch = 64;
    DO(cudaGraphMemsetNodeSetParams(c.fill, &fill));
    update("a fill of rows", x, &c);
    c = chain(d);
    DO(cudaGraphMemcpyNodeSetParams1D(c.copy, d, host, 64, cudaMemcpyHostToDevice));
    update("a longer copy", x, &c);
    DO(cudaGraphMemcpyNodeSetParams1D(c.copy, d, other_host, 16, cudaMemcpyHostToDevice));
    update("a copy from elsewhere", x, &c);
    DO(cudaGraphMemcpyNodeSetParams1D(c.copy, host, d, 16, cudaMemcpyDeviceToHost));
    update("a copy the other way", x, &c);
    DO(cudaGraphMemcpyNodeSetParams1D(c.copy, d, e, 16, cudaMemcpyDeviceToDevice));
    update("a copy on the device", x, &c);
    struct cudaMemcpy3DParms box = { .srcPtr = { host, 16, 16, 2 },
                                     .dstPtr = { d, 64, 16, 2 },
                                     .extent = { 16, 2, 1 },
                                     .kind = cudaMemcpyHostToDevice };
    DO(cudaGraphMemcpyNodeSetParams(c.copy, &box));
    update("a copy of rows", x, &c);
    c = chain(d);
    struct cudaHostNodeParams call = { .fn = another_function, .userData = other_host };
    DO(cudaGraphHostNodeSetParams(c.call, &call));
    update("another function", x, &c);
    c = chain(d);
    DO(cudaGraphAddEmptyNode(&extra, c.g, NULL, 0));
    update("a node more", x, &c);
    c = chain(d);
    DO(cudaGraphDestroyNode(c.call));
    update("a node less", x, &c);
    c = chain(d);
    DO(cudaGraphRemoveDependencies(c.g, &c.copy, &c.call, NULL, 1));
    update("an edge less", x, &c);
    DO(cudaGraphAddDependencies(c.g, &c.fill, &c.call, NULL, 1));
    update("an edge from elsewhere", x, &c);
    DO(cudaGraphAddDependencies(c.g, &c.copy, &c.call, NULL, 1));
    update("an edge more", x, &c);
    c = chain(d);
    DO(cudaGraphDestroyNode(c.copy));
    // The call's text is part of the record.
    // clang-format off
    DO(cudaGraphAddMemsetNode(&c.copy, c.g, &c.fill, 1,
       &(struct cudaMemsetParams){ .dst = d, .elementSize = 4, .width = 4, .height = 1 }));
    // clang-format on
    DO(cudaGraphAddDependencies(c.g, &c.copy, &c.call, NULL, 1));
    update("a fill for a copy", x, &c);
    update("itself", x, &first);
    cudaGraphExecUpdateResultInfo info;
    memset(&info, 0x55, sizeof info);
    ask("update null", cudaGraphExecUpdate(NULL, first.g, &info));
    DO(cudaGraphDestroy(first.g));
    c = chain(d);
    update("once its graph is destroyed", x, &c);
    ask("launch", cudaGraphLaunch(x, s));
    ask("afterwards", cudaStreamSynchronize(s));

    // What children and events change.
    cudaGraph_t child, parents[2];
    cudaGraphNode_t node, nodes[2], inner;
    cudaEvent_t one, two;
    cudaGraphExec_t y;
    DO(cudaEventCreate(&one));
    DO(cudaEventCreate(&two));
    DO(cudaGraphCreate(&child, 0));
    // The call's text is part of the record.
    // clang-format off
    DO(cudaGraphAddMemsetNode(&inner, child, NULL, 0,
       &(struct cudaMemsetParams){ .dst = d, .elementSize = 4, .width = 4, .height = 1 }));
    // clang-format on
    for (int i = 0; i < 2; i++) {
        DO(cudaGraphCreate(&parents[i], 0));
        DO(cudaGraphAddChildGraphNode(&nodes[i], parents[i], NULL, 0, child));
        DO(cudaGraphAddEventRecordNode(&node, parents[i], &nodes[i], 1, i ? two : one));
        if (!i) DO(cudaGraphAddEmptyNode(&inner, child, &inner, 1));
    }
    ask("instantiate one with a child", cudaGraphInstantiate(&y, parents[0], 0));
    memset(&info, 0x55, sizeof info);
    ask("update with a child that has grown", cudaGraphExecUpdate(y, parents[1], &info));
    tell("with a child that has grown", "result %d, node %s, from %s", (int)info.result,
         info.errorNode ? "some" : "null", info.errorFromNode ? "some" : "null");
    ask("set the child that has grown", cudaGraphExecChildGraphNodeSetParams(y, nodes[0], child));
    DO(cudaGraphDestroy(parents[1]));
    DO(cudaGraphClone(&parents[1], parents[0]));
    DO(cudaGraphNodeFindInClone(&node, node, parents[1]) == cudaErrorInvalidValue
           ? cudaSuccess
           : cudaErrorUnknown);
    cudaGetLastError();
    memset(&info, 0x55, sizeof info);
    ask("update with a clone", cudaGraphExecUpdate(y, parents[1], &info));
    tell("with a clone", "result %d, node %s, from %s", (int)info.result,
         info.errorNode ? "some" : "null", info.errorFromNode ? "some" : "null");
    ask("launch that", cudaGraphLaunch(y, s));
    ask("at last", cudaStreamSynchronize(s));
}

GROUP(graph_symbols, 1)
{
    cudaGraph_t g;
    cudaGraphNode_t to, from, k, node;
    cudaGraphExec_t x;
    char *d;
    void *address;
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaGetSymbolAddress(&address, variable));
    DO(cudaGraphCreate(&g, 0));
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 1, NULL);
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    ask("to a variable", cudaGraphAddMemcpyNodeToSymbol(&to, g, NULL, 0, variable, host, 64, 0,
                                                        cudaMemcpyHostToDevice));
    ask("from a variable", cudaGraphAddMemcpyNodeFromSymbol(&from, g, &to, 1, host, variable, 64, 0,
                                                            cudaMemcpyDeviceToHost));
    ask("to a constant", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, constant, host, 64, 0,
                                                        cudaMemcpyHostToDevice));
    ask("to a variable from the device",
        cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, d, 64, 0,
                                       cudaMemcpyDeviceToDevice));
    ask("to a variable by default", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable,
                                                                   host, 64, 0, cudaMemcpyDefault));
    ask("to a variable, the wrong way round",
        cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, host, 64, 0,
                                       cudaMemcpyDeviceToHost));
    ask("to a variable, kind 9",
        cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, host, 64, 0, 9));
    ask("past a variable", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, host, 64, 4,
                                                          cudaMemcpyHostToDevice));
    ask("far past a variable", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, host, 4,
                                                              1000, cudaMemcpyHostToDevice));
    ask("no bytes to a variable", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, host,
                                                                 0, 0, cudaMemcpyHostToDevice));
    ask("to null", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, NULL, host, 4, 0,
                                                  cudaMemcpyHostToDevice));
    ask("to the host's memory", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, host, host, 4, 0,
                                                               cudaMemcpyHostToDevice));
    ask("to a kernel", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, (const void *)nothing,
                                                      host, 4, 0, cudaMemcpyHostToDevice));
    ask("from null to a variable", cudaGraphAddMemcpyNodeToSymbol(&node, g, NULL, 0, variable, NULL,
                                                                  4, 0, cudaMemcpyHostToDevice));
    ask("of no graph", cudaGraphAddMemcpyNodeToSymbol(&node, NULL, NULL, 0, variable, host, 4, 0,
                                                      cudaMemcpyHostToDevice));
    ask("node to nowhere", cudaGraphAddMemcpyNodeToSymbol(NULL, g, NULL, 0, variable, host, 4, 0,
                                                          cudaMemcpyHostToDevice));
    ask("from a variable to null",
        cudaGraphAddMemcpyNodeFromSymbol(&node, g, NULL, 0, NULL, variable, 4, 0,
                                         cudaMemcpyDeviceToHost));
    ask("from a variable, the wrong way round",
        cudaGraphAddMemcpyNodeFromSymbol(&node, g, NULL, 0, host, variable, 4, 0,
                                         cudaMemcpyHostToDevice));
    ask("from past a variable", cudaGraphAddMemcpyNodeFromSymbol(&node, g, NULL, 0, host, variable,
                                                                 64, 4, cudaMemcpyDeviceToHost));
    struct cudaMemcpy3DParms back = { 0 };
    ask("its parameters", cudaGraphMemcpyNodeGetParams(to, &back));
    tell("its parameters", "to %s, %zu %zu %zu, pitches %zu %zu, kind %d",
         back.dstPtr.ptr == address ? "the variable" : "elsewhere", back.extent.width,
         back.extent.height, back.extent.depth, back.srcPtr.pitch, back.dstPtr.pitch,
         (int)back.kind);
    ask("instantiate", cudaGraphInstantiate(&x, g, 0));
    ask("set to a variable", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, variable, host, 32, 32,
                                                                      cudaMemcpyHostToDevice));
    ask("set to a constant", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, constant, host, 32, 0,
                                                                      cudaMemcpyHostToDevice));
    ask("set past a variable", cudaGraphExecMemcpyNodeSetParamsToSymbol(
                                   x, to, variable, host, 64, 32, cudaMemcpyHostToDevice));
    ask("set to null",
        cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, NULL, host, 64, 0, cudaMemcpyHostToDevice));
    ask("set to a variable on a kernel", cudaGraphExecMemcpyNodeSetParamsToSymbol(
                                             x, k, variable, host, 64, 0, cudaMemcpyHostToDevice));
    ask("set to a variable, from the device",
        cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, variable, d, 64, 0,
                                                 cudaMemcpyDeviceToDevice));
    ask("set to a variable, of null", cudaGraphExecMemcpyNodeSetParamsToSymbol(
                                          NULL, to, variable, host, 64, 0, cudaMemcpyHostToDevice));
    ask("set from a variable", cudaGraphExecMemcpyNodeSetParamsFromSymbol(
                                   x, from, host, variable, 32, 32, cudaMemcpyDeviceToHost));
    ask("set from past a variable", cudaGraphExecMemcpyNodeSetParamsFromSymbol(
                                        x, from, host, variable, 64, 32, cudaMemcpyDeviceToHost));
    ask("set from a variable, on the way in",
        cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, to, host, variable, 64, 0,
                                                   cudaMemcpyDeviceToHost));
    ask("set from a variable, to null",
        cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, from, NULL, variable, 64, 0,
                                                   cudaMemcpyDeviceToHost));
    ask("launch", cudaGraphLaunch(x, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(graph_events, 1)
{
    cudaGraph_t g;
    cudaGraphNode_t record, wait, k;
    cudaGraphExec_t x;
    cudaEvent_t e, f, shared;
    DO(cudaEventCreate(&e));
    DO(cudaEventCreate(&f));
    DO(cudaEventCreateWithFlags(&shared, cudaEventInterprocess | cudaEventDisableTiming));
    DO(cudaGraphCreate(&g, 0));
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 1, NULL);
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    ask("wait", cudaGraphAddEventWaitNode(&wait, g, NULL, 0, e));
    DO(cudaGraphAddEventRecordNode(&record, g, &wait, 1, e));
    ask("wait, to nowhere", cudaGraphAddEventWaitNode(NULL, g, NULL, 0, e));
    ask("wait, of no graph", cudaGraphAddEventWaitNode(&wait, NULL, NULL, 0, e));
    ask("wait's event", cudaGraphEventWaitNodeGetEvent(wait, &shared));
    ask("wait's event to nowhere", cudaGraphEventWaitNodeGetEvent(wait, NULL));
    ask("record's event of a wait", cudaGraphEventRecordNodeGetEvent(wait, &shared));
    ask("record's event to nowhere", cudaGraphEventRecordNodeGetEvent(record, NULL));
    ask("wait for another", cudaGraphEventWaitNodeSetEvent(wait, f));
    ask("wait for null", cudaGraphEventWaitNodeSetEvent(wait, NULL));
    ask("wait of a record", cudaGraphEventWaitNodeSetEvent(record, f));
    ask("wait of null", cudaGraphEventWaitNodeSetEvent(NULL, f));
    DO(cudaGraphInstantiate(&x, g, 0));
    ask("of the executable, wait", cudaGraphExecEventWaitNodeSetEvent(x, wait, e));
    ask("of the executable, wait for null", cudaGraphExecEventWaitNodeSetEvent(x, wait, NULL));
    ask("of the executable, wait of a record", cudaGraphExecEventWaitNodeSetEvent(x, record, e));
    ask("of the executable, wait of a kernel", cudaGraphExecEventWaitNodeSetEvent(x, k, e));
    ask("of null, wait", cudaGraphExecEventWaitNodeSetEvent(NULL, wait, e));
    ask("of the executable, record of a wait", cudaGraphExecEventRecordNodeSetEvent(x, wait, e));
    ask("launch", cudaGraphLaunch(x, 0));
    ask("afterwards", cudaDeviceSynchronize());
    ask("the event that it records", cudaEventQuery(e));
}

static void instantiate_with(const char *question, cudaGraph_t g, unsigned long long flags,
                             cudaStream_t upload)
{
    cudaGraphExec_t x = NULL;
    cudaGraphInstantiateParams p = {
        .flags = flags, .uploadStream = upload, .errNode_out = (cudaGraphNode_t)7, .result_out = 9
    };
    unsigned long long its_flags = 77;
    cudaError_t error = cudaGraphInstantiateWithParams(&x, g, &p), last = cudaGetLastError();
    if (!error) DO(cudaGraphExecGetFlags(x, &its_flags));
    tell(question, "%s, last error %s, result %d, node %s, %s, flags %llu", cudaGetErrorName(error),
         cudaGetErrorName(last), (int)p.result_out,
         p.errNode_out == (cudaGraphNode_t)7 ? "as it was"
         : p.errNode_out                     ? "some"
                                             : "null",
         x ? "an executable" : "none", its_flags);
    if (x) DO(cudaGraphExecDestroy(x));
}

GROUP(graph_instantiations, 1)
{
    cudaGraph_t g, circle, empty;
    cudaGraphNode_t a, b;
    cudaGraphExec_t x;
    cudaStream_t s;
    unsigned long long flags;
    DO(cudaStreamCreate(&s));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphCreate(&empty, 0));
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 1, NULL);
    DO(cudaGraphAddKernelNode(&a, g, NULL, 0, &kernel));
    instantiate_with("flags 0", g, 0, NULL);
    instantiate_with("empty", empty, 0, NULL);
    instantiate_with("free on launch", g, cudaGraphInstantiateFlagAutoFreeOnLaunch, NULL);
    instantiate_with("upload", g, cudaGraphInstantiateFlagUpload, s);
    instantiate_with("upload on the legacy stream", g, cudaGraphInstantiateFlagUpload, NULL);
    instantiate_with("priorities", g, cudaGraphInstantiateFlagUseNodePriority, NULL);
    instantiate_with("flag 16", g, 16, NULL);
    instantiate_with("flag 64", g, 64, NULL);
    instantiate_with("null", NULL, 0, NULL);
    DO(cudaGraphCreate(&circle, 0));
    DO(cudaGraphAddEmptyNode(&a, circle, NULL, 0));
    DO(cudaGraphAddEmptyNode(&b, circle, &a, 1));
    cudaGraphAddDependencies(circle, &b, &a, NULL, 1);
    cudaGetLastError();
    instantiate_with("a circle", circle, 0, NULL);
    cudaGraphInstantiateParams p = { 0 };
    ask("parameters null", cudaGraphInstantiateWithParams(&x, g, NULL));
    ask("to nowhere", cudaGraphInstantiateWithParams(NULL, g, &p));
    ask("with flags to upload",
        cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagUpload));
    ask("with flags 64", cudaGraphInstantiateWithFlags(&x, g, 64));
    DO(cudaGraphInstantiate(&x, g, 0));
    ask("its flags to nowhere", cudaGraphExecGetFlags(x, NULL));
    ask("flags of null", cudaGraphExecGetFlags(NULL, &flags));
    ask("upload null", cudaGraphUpload(NULL, s));
    ask("upload on the legacy stream then", cudaGraphUpload(x, 0));
    ask("launch on the legacy stream", cudaGraphLaunch(x, 0));
    ask("launch on cudaStreamLegacy", cudaGraphLaunch(x, cudaStreamLegacy));
    ask("launch on the thread's stream", cudaGraphLaunch(x, cudaStreamPerThread));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(graph_node_attributes, 1)
{
    cudaGraph_t g;
    cudaGraphNode_t k, other, fill;
    cudaLaunchAttributeValue v;
    char *d;
    DO(cudaMalloc((void **)&d, 1 << 20));
    DO(cudaGraphCreate(&g, 0));
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 4, NULL);
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    DO(cudaGraphAddKernelNode(&other, g, NULL, 0, &kernel));
    // The call's text is part of the record.
    // clang-format off
    DO(cudaGraphAddMemsetNode(&fill, g, NULL, 0,
       &(struct cudaMemsetParams){ .dst = d, .elementSize = 4, .width = 4, .height = 1 }));
    // clang-format on
    memset(&v, 0, sizeof v);
    ask("cooperative", cudaGraphKernelNodeGetAttribute(k, cudaLaunchAttributeCooperative, &v));
    tell("cooperative is", "%d", v.cooperative);
    v.cooperative = 1;
    ask("set cooperative", cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeCooperative, &v));
    v.cooperative = 0;
    DO(cudaGraphKernelNodeGetAttribute(k, cudaLaunchAttributeCooperative, &v));
    tell("cooperative then is", "%d", v.cooperative);
    ask("copy", cudaGraphKernelNodeCopyAttributes(other, k));
    v.cooperative = 0;
    DO(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeCooperative, &v));
    tell("the copy is", "%d", v.cooperative);
    v.cooperative = 5;
    ask("set cooperative to 5",
        cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeCooperative, &v));
    v.cooperative = 0;
    ask("set cooperative back",
        cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeCooperative, &v));
    ask("copy to itself", cudaGraphKernelNodeCopyAttributes(k, k));
    ask("copy from a fill", cudaGraphKernelNodeCopyAttributes(k, fill));
    ask("copy to a fill", cudaGraphKernelNodeCopyAttributes(fill, k));
    ask("copy from null", cudaGraphKernelNodeCopyAttributes(k, NULL));
    ask("copy to null", cudaGraphKernelNodeCopyAttributes(NULL, k));
    ask("get of a fill", cudaGraphKernelNodeGetAttribute(fill, cudaLaunchAttributeCooperative, &v));
    ask("set of a fill", cudaGraphKernelNodeSetAttribute(fill, cudaLaunchAttributeCooperative, &v));
    ask("get of null", cudaGraphKernelNodeGetAttribute(NULL, cudaLaunchAttributeCooperative, &v));
    ask("set 99", cudaGraphKernelNodeSetAttribute(k, (cudaLaunchAttributeID)99, &v));
    ask("get 99", cudaGraphKernelNodeGetAttribute(k, (cudaLaunchAttributeID)99, &v));
    for (int id = 0; id <= 16; id++) {
        char question[80], words[3 * 16 + 1];
        memset(&v, 0, sizeof v);
        cudaError_t error = cudaGraphKernelNodeGetAttribute(k, (cudaLaunchAttributeID)id, &v),
                    last = cudaGetLastError();
        for (int i = 0; i < 16; i++) sprintf(words + 3 * i, " %02x", (unsigned char)v.pad[i]);
        snprintf(question, sizeof question, "attribute %d", id);
        if (error)
            tell(question, "%s, last error %s", cudaGetErrorName(error), cudaGetErrorName(last));
        else tell(question, "%s", words + 1);
    }
    memset(&v, 0, sizeof v);
    v.priority = -2;
    ask("set a priority", cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributePriority, &v));
    v.priority = 99;
    ask("get the priority", cudaGraphKernelNodeGetAttribute(k, cudaLaunchAttributePriority, &v));
    tell("the priority", "%d", v.priority);
    v.priority = -99;
    ask("set priority -99", cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributePriority, &v));
    v.priority = 99;
    cudaGraphKernelNodeGetAttribute(k, cudaLaunchAttributePriority, &v);
    tell("priority -99 is", "%d", v.priority);
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, 1 << 20, 1, cudaAccessPropertyPersisting,
                                         cudaAccessPropertyStreaming };
    ask("set a window",
        cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow.hitRatio = 2;
    ask("set a window of ratio 2",
        cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeAccessPolicyWindow, &v));
    memset(&v, 0, sizeof v);
    v.syncPolicy = cudaSyncPolicySpin;
    ask("set how to wait",
        cudaGraphKernelNodeSetAttribute(k, cudaLaunchAttributeSynchronizationPolicy, &v));
    ask("afterwards", cudaDeviceSynchronize());
}

// What a node says of its copy, and a copied node of its kernel's attributes.
GROUP(graph_node_copies, 1)
{
    cudaGraph_t g;
    cudaGraphNode_t plain, rows, packed, k, other;
    char *d;
    struct cudaMemcpy3DParms p;
    cudaLaunchAttributeValue v = { .clusterSchedulingPolicyPreference =
                                       cudaClusterSchedulingPolicyLoadBalancing };
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphAddMemcpyNode1D(&plain, g, NULL, 0, d, host, 64, cudaMemcpyHostToDevice));
    struct cudaMemcpy3DParms box = { .srcPtr = { host, 16, 8, 4 },
                                     .dstPtr = { d, 64, 32, 8 },
                                     .extent = { 8, 2, 2 },
                                     .srcPos = { 4, 1, 0 },
                                     .kind = cudaMemcpyHostToDevice };
    DO(cudaGraphAddMemcpyNode(&rows, g, NULL, 0, &box));
    box = (struct cudaMemcpy3DParms){ .srcPtr = { host, 16, 16, 1 },
                                      .dstPtr = { d, 16, 16, 1 },
                                      .extent = { 16, 1, 1 },
                                      .kind = cudaMemcpyDefault };
    DO(cudaGraphAddMemcpyNode(&packed, g, NULL, 0, &box));
    const struct {
        const char *name;
        cudaGraphNode_t node;
    } all[] = { { "plain", plain }, { "rows", rows }, { "packed", packed } };
    for (int i = 0; i < 3; i++) {
        memset(&p, 0x55, sizeof p);
        DO(cudaGraphMemcpyNodeGetParams(all[i].node, &p));
        tell(all[i].name,
             "from %td, %zu %zu %zu, to %zu %zu %zu, at %zu %zu %zu and %zu %zu %zu, %zu x %zu x "
             "%zu, kind %d",
             (char *)p.srcPtr.ptr - host, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize,
             p.dstPtr.pitch, p.dstPtr.xsize, p.dstPtr.ysize, p.srcPos.x, p.srcPos.y, p.srcPos.z,
             p.dstPos.x, p.dstPos.y, p.dstPos.z, p.extent.width, p.extent.height, p.extent.depth,
             (int)p.kind);
    }
    struct cudaKernelNodeParams kernel = kernel_of((const void *)nothing, 4, NULL);
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    DO(cudaGraphAddKernelNode(&other, g, NULL, 0, &kernel));
    ask("set a policy", cudaGraphKernelNodeSetAttribute(
                            k, cudaLaunchAttributeClusterSchedulingPolicyPreference, &v));
    DO(cudaGraphKernelNodeCopyAttributes(other, k));
    memset(&v, 0, sizeof v);
    DO(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeClusterSchedulingPolicyPreference,
                                       &v));
    tell("the copied policy", "%d", (int)v.clusterSchedulingPolicyPreference);
}
