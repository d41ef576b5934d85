// Asking graphs what they are made of, and captures how far they are.
#include "ask.h"

static void host_function(void *unused) { (void)unused; }

static void info(const char *question, cudaStream_t s)
{
    enum cudaStreamCaptureStatus status = 9;
    unsigned long long id = 77;
    cudaGraph_t g = (cudaGraph_t)7;
    const cudaGraphNode_t *nodes = (const cudaGraphNode_t *)7;
    size_t count = 77;
    cudaError_t error = cudaStreamGetCaptureInfo(s, &status, &id, &g, &nodes, NULL, &count);
    tell(question, "%s, status %d, id %s, graph %s, nodes %s, %zu", cudaGetErrorName(error),
         (int)status,
         id == 77 ? "as it was"
         : id     ? "some"
                  : "0",
         g == (cudaGraph_t)7 ? "as it was"
         : g                 ? "some"
                             : "null",
         nodes == (const cudaGraphNode_t *)7 ? "as they were"
         : nodes                             ? "some"
                                             : "null",
         count);
    cudaGetLastError();
}

GROUP(capture_structure, 1)
{
    cudaStream_t s, t;
    cudaGraph_t g = NULL, mine;
    cudaGraphNode_t node, other, foreign;
    const cudaGraphNode_t *found;
    cudaEvent_t e;
    size_t count = 77;
    enum cudaStreamCaptureStatus status;
    DO(cudaStreamCreate(&s));
    DO(cudaStreamCreate(&t));
    DO(cudaEventCreate(&e));
    info("not captured", s);
    info("the legacy stream", 0);
    ask("status to nowhere", cudaStreamGetCaptureInfo(s, NULL, NULL, NULL, NULL, NULL, NULL));
    ask("dependencies, not captured",
        cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    info("begun", s);
    info("the legacy stream, meanwhile", 0);
    DO(launch((const void *)nothing, 1, 1, NULL, 0, s));
    info("a kernel", s);
    DO(cudaEventRecord(e, s));
    DO(cudaStreamWaitEvent(t, e, 0));
    DO(launch((const void *)nothing, 1, 1, NULL, 0, s));
    info("joined", t);
    info("two kernels", s);
    DO(cudaStreamGetCaptureInfo(s, &status, NULL, &g, &found, NULL, &count));
    node = found[0];
    DO(cudaStreamGetCaptureInfo(t, &status, NULL, &g, &found, NULL, &count));
    other = found[0];
    ask("add a dependency",
        cudaStreamUpdateCaptureDependencies(s, &other, NULL, 1, cudaStreamAddCaptureDependencies));
    info("with one more", s);
    ask("add it again",
        cudaStreamUpdateCaptureDependencies(s, &other, NULL, 1, cudaStreamAddCaptureDependencies));
    info("with it again", s);
    ask("set one",
        cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1, cudaStreamSetCaptureDependencies));
    info("with one set", s);
    ask("set none",
        cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
    info("with none", s);
    ask("set null",
        cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 1, cudaStreamSetCaptureDependencies));
    ask("flags 9", cudaStreamUpdateCaptureDependencies(s, &node, NULL, 1, 9));
    DO(cudaGraphCreate(&mine, 0));
    DO(cudaGraphAddEmptyNode(&foreign, mine, NULL, 0));
    ask("set another graph's", cudaStreamUpdateCaptureDependencies(
                                   s, &foreign, NULL, 1, cudaStreamSetCaptureDependencies));
    info("then", s);
    ask("end", cudaStreamEndCapture(s, &g));
    tell("graph", "%s", g ? "some" : "null");
    cudaGetLastError();
    ask("begin into a graph",
        cudaStreamBeginCaptureToGraph(s, mine, &foreign, NULL, 1, cudaStreamCaptureModeGlobal));
    info("into a graph", s);
    DO(launch((const void *)nothing, 1, 1, NULL, 0, s));
    ask("end of that", cudaStreamEndCapture(s, &g));
    tell("it is", "%s", g == mine ? "that graph" : "another");
    ask("begin into null",
        cudaStreamBeginCaptureToGraph(s, NULL, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    ask("begin into a graph behind null",
        cudaStreamBeginCaptureToGraph(s, mine, NULL, NULL, 1, cudaStreamCaptureModeGlobal));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(graph_structure, 1)
{
    cudaGraph_t g, child, got;
    cudaGraphNode_t k, f, c, m, h, list[8], ends[8];
    cudaEvent_t e, e2, e_got;
    size_t count;
    char *d;
    static char host[64];
    enum cudaGraphNodeType type;
    unsigned long long flags = 77;
    DO(cudaMalloc((void **)&d, 4096));
    DO(cudaEventCreate(&e));
    DO(cudaEventCreate(&e2));
    void *arguments[] = { &d };
    DO(cudaGraphCreate(&g, 0));
    struct cudaKernelNodeParams kernel = { .func = (void *)add_one,
                                           .gridDim = { 2, 1, 1 },
                                           .blockDim = { 32, 1, 1 },
                                           .kernelParams = arguments },
                                back = { 0 };
    struct cudaMemsetParams fill = { .dst = d,
                                     .value = 7,
                                     .elementSize = 4,
                                     .width = 4,
                                     .height = 2,
                                     .pitch = 64 },
                            fill_back = { 0 };
    struct cudaMemcpy3DParms copy = { .srcPtr = { host, 16, 16, 1 },
                                      .dstPtr = { d, 16, 16, 1 },
                                      .extent = { 16, 1, 1 },
                                      .kind = cudaMemcpyHostToDevice },
                             copy_back = { 0 };
    struct cudaHostNodeParams call = { .fn = host_function, .userData = host }, call_back = { 0 };
    DO(cudaGraphAddKernelNode(&k, g, NULL, 0, &kernel));
    DO(cudaGraphAddMemsetNode(&f, g, &k, 1, &fill));
    ask("copy", cudaGraphAddMemcpyNode(&c, g, &f, 1, &copy));
    DO(cudaGraphAddHostNode(&h, g, &c, 1, &call));
    ask("kernel's parameters", cudaGraphKernelNodeGetParams(k, &back));
    tell("kernel's parameters", "%s, %u blocks of %u, %u bytes, %s",
         back.func == kernel.func ? "it" : "another", back.gridDim.x, back.blockDim.x,
         back.sharedMemBytes,
         back.kernelParams && *(char **)back.kernelParams[0] == d ? "its argument" : "no argument");
    ask("fill's parameters", cudaGraphMemsetNodeGetParams(f, &fill_back));
    tell("fill's parameters", "%s, %zu x %zu of %u, value %u, pitch %zu",
         fill_back.dst == d ? "it" : "another", fill_back.width, fill_back.height,
         fill_back.elementSize, fill_back.value, fill_back.pitch);
    ask("copy's parameters", cudaGraphMemcpyNodeGetParams(c, &copy_back));
    tell("copy's parameters", "from %s to %s, %zu %zu %zu, pitches %zu %zu, kind %d",
         copy_back.srcPtr.ptr == host ? "it" : "another",
         copy_back.dstPtr.ptr == d ? "it" : "another", copy_back.extent.width,
         copy_back.extent.height, copy_back.extent.depth, copy_back.srcPtr.pitch,
         copy_back.dstPtr.pitch, (int)copy_back.kind);
    ask("function's parameters", cudaGraphHostNodeGetParams(h, &call_back));
    tell("function's parameters", "%s, %s", call_back.fn == host_function ? "it" : "another",
         call_back.userData == host ? "its data" : "other data");
    ask("kernel's parameters to nowhere", cudaGraphKernelNodeGetParams(k, NULL));
    ask("fill's parameters of a kernel", cudaGraphMemsetNodeGetParams(k, &fill_back));
    ask("fill's parameters to nowhere", cudaGraphMemsetNodeGetParams(f, NULL));
    ask("copy's parameters of a kernel", cudaGraphMemcpyNodeGetParams(k, &copy_back));
    ask("function's parameters of a kernel", cudaGraphHostNodeGetParams(k, &call_back));
    ask("parameters of null", cudaGraphKernelNodeGetParams(NULL, &back));
    DO(cudaGraphCreate(&child, 0));
    DO(cudaGraphAddEmptyNode(&m, child, NULL, 0));
    ask("child", cudaGraphAddChildGraphNode(&m, g, NULL, 0, child));
    ask("child's graph", cudaGraphChildGraphNodeGetGraph(m, &got));
    tell("child's graph", "%s", got == child ? "that graph" : "a copy");
    ask("child's graph of a kernel", cudaGraphChildGraphNodeGetGraph(k, &got));
    ask("child's graph to nowhere", cudaGraphChildGraphNodeGetGraph(m, NULL));
    ask("record", cudaGraphAddEventRecordNode(&m, g, NULL, 0, e));
    ask("record's event", cudaGraphEventRecordNodeGetEvent(m, &e_got));
    tell("record's event", "%s", e_got == e ? "it" : "another");
    ask("record another", cudaGraphEventRecordNodeSetEvent(m, e2));
    ask("record null", cudaGraphEventRecordNodeSetEvent(m, NULL));
    ask("record of a kernel", cudaGraphEventRecordNodeSetEvent(k, e));
    ask("wait's event of a record", cudaGraphEventWaitNodeGetEvent(m, &e_got));
    count = 77;
    ask("roots", cudaGraphGetRootNodes(g, NULL, &count));
    tell("roots", "%zu", count);
    count = 1;
    ask("one root", cudaGraphGetRootNodes(g, list, &count));
    tell("one root", "%zu", count);
    ask("roots of null", cudaGraphGetRootNodes(NULL, list, &count));
    ask("roots, count null", cudaGraphGetRootNodes(g, list, NULL));
    count = 77;
    ask("edges", cudaGraphGetEdges(g, NULL, NULL, NULL, &count));
    tell("edges", "%zu", count);
    count = 8;
    memset(list, 0, sizeof list), memset(ends, 0, sizeof ends);
    ask("all edges", cudaGraphGetEdges(g, list, ends, NULL, &count));
    tell("all edges", "%zu, the fourth %s", count, ends[3] ? "some" : "null");
    ask("edges, ends null", cudaGraphGetEdges(g, list, NULL, NULL, &count));
    count = 77;
    ask("dependencies", cudaGraphNodeGetDependencies(f, NULL, NULL, &count));
    tell("dependencies", "%zu", count);
    count = 77;
    ask("dependents", cudaGraphNodeGetDependentNodes(h, NULL, NULL, &count));
    tell("dependents", "%zu", count);
    ask("dependents of null", cudaGraphNodeGetDependentNodes(NULL, NULL, NULL, &count));
    ask("type of null", cudaGraphNodeGetType(NULL, &type));
    ask("type to nowhere", cudaGraphNodeGetType(k, NULL));
    ask("draw", cudaGraphDebugDotPrint(g, "/dev/null", 0));
    ask("draw nowhere", cudaGraphDebugDotPrint(g, "/nowhere/at/all", 0));
    ask("draw to null", cudaGraphDebugDotPrint(g, NULL, 0));
    kernel.gridDim.x = 0;
    ask("set no blocks", cudaGraphKernelNodeSetParams(k, &kernel));
    kernel.gridDim.x = 1, kernel.func = NULL;
    ask("set kernel null", cudaGraphKernelNodeSetParams(k, &kernel));
    fill.elementSize = 3;
    ask("set elements of 3", cudaGraphMemsetNodeSetParams(f, &fill));
    fill.elementSize = 1, fill.width = 0;
    ask("set no width", cudaGraphMemsetNodeSetParams(f, &fill));
    fill.width = 16, fill.pitch = 8;
    ask("set a pitch too small", cudaGraphMemsetNodeSetParams(f, &fill));
    copy.kind = 9;
    ask("set kind 9", cudaGraphMemcpyNodeSetParams(c, &copy));
    copy.kind = cudaMemcpyDeviceToHost;
    ask("set the wrong way round", cudaGraphMemcpyNodeSetParams(c, &copy));
    ask("set 1D", cudaGraphMemcpyNodeSetParams1D(c, d, host, 8, cudaMemcpyHostToDevice));
    ask("set 1D, no bytes", cudaGraphMemcpyNodeSetParams1D(c, d, host, 0, cudaMemcpyHostToDevice));
    ask("set 1D, null", cudaGraphMemcpyNodeSetParams1D(c, NULL, host, 8, cudaMemcpyHostToDevice));
    ask("set to a variable",
        cudaGraphMemcpyNodeSetParamsToSymbol(c, variable, host, 16, 0, cudaMemcpyHostToDevice));
    ask("set past a variable",
        cudaGraphMemcpyNodeSetParamsToSymbol(c, variable, host, 64, 16, cudaMemcpyHostToDevice));
    ask("set from a variable",
        cudaGraphMemcpyNodeSetParamsFromSymbol(c, host, variable, 16, 0, cudaMemcpyDeviceToHost));
    call.fn = NULL;
    ask("set function null", cudaGraphHostNodeSetParams(h, &call));
    cudaGraphExec_t x;
    // The call's text is part of the record.
    // clang-format off
    DO(cudaGraphMemsetNodeSetParams(f,
       &(struct cudaMemsetParams){ .dst = d, .elementSize = 1, .width = 8, .height = 1 }));
    // clang-format on
    ask("instantiate, flags 8",
        cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagUseNodePriority));
    ask("its flags", cudaGraphExecGetFlags(x, &flags));
    tell("its flags", "%llu", flags);
    struct cudaMemcpy3DParms smaller = { .srcPtr = { host, 16, 16, 1 },
                                         .dstPtr = { d, 16, 16, 1 },
                                         .extent = { 8, 1, 1 },
                                         .kind = cudaMemcpyHostToDevice };
    ask("of the executable, a copy's parameters", cudaGraphExecMemcpyNodeSetParams(x, c, &smaller));
    ask("of the executable, 1D",
        cudaGraphExecMemcpyNodeSetParams1D(x, c, d, host, 8, cudaMemcpyHostToDevice));
    ask("of the executable, 1D from the device",
        cudaGraphExecMemcpyNodeSetParams1D(x, c, host, d, 8, cudaMemcpyDeviceToHost));
    ask("of the executable, an event", cudaGraphExecEventRecordNodeSetEvent(x, m, e));
    ask("of the executable, an event null", cudaGraphExecEventRecordNodeSetEvent(x, m, NULL));
    ask("of the executable, an event of a kernel", cudaGraphExecEventRecordNodeSetEvent(x, k, e));
    call.fn = host_function;
    ask("of the executable, a function", cudaGraphExecHostNodeSetParams(x, h, &call));
    ask("of the executable, a child", cudaGraphExecChildGraphNodeSetParams(x, m, child));
    struct cudaGraphNodeParams any = { .type = cudaGraphNodeTypeKernel };
    any.kernel = (struct cudaKernelNodeParamsV2){ .func = (void *)add_one,
                                                  .gridDim = { 1, 1, 1 },
                                                  .blockDim = { 1, 1, 1 },
                                                  .kernelParams = arguments };
    ask("any node", cudaGraphAddNode(&m, g, NULL, NULL, 0, &any));
    ask("any node's parameters", cudaGraphNodeSetParams(k, &any));
    ask("any node's, of another type", cudaGraphNodeSetParams(f, &any));
    ask("any node's of the executable", cudaGraphExecNodeSetParams(x, k, &any));
    any.type = 99;
    ask("a node of type 99", cudaGraphAddNode(&m, g, NULL, NULL, 0, &any));
    ask("a node of null", cudaGraphAddNode(&m, g, NULL, NULL, 0, NULL));
    ask("launch", cudaGraphLaunch(x, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(boxes, 1)
{
    char *d, *e;
    static char host[8192];
    struct cudaPitchedPtr box;
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc((void **)&d, 1 << 16));
    DO(cudaMalloc((void **)&e, 1 << 16));
    DO(cudaMalloc3D(&box, (struct cudaExtent){ 64, 8, 8 }));
    ask("2D", cudaMemcpy2DAsync(d, 64, host, 32, 16, 8, cudaMemcpyHostToDevice, s));
    ask("2D, wider than its pitch",
        cudaMemcpy2DAsync(d, 8, host, 32, 16, 8, cudaMemcpyHostToDevice, s));
    ask("2D, wider than its source's pitch",
        cudaMemcpy2DAsync(d, 64, host, 8, 16, 8, cudaMemcpyHostToDevice, s));
    ask("2D, pitches 0", cudaMemcpy2DAsync(d, 0, host, 0, 16, 1, cudaMemcpyHostToDevice, s));
    ask("2D, to null", cudaMemcpy2DAsync(NULL, 64, host, 32, 16, 8, cudaMemcpyHostToDevice, s));
    ask("2D, wrong way round",
        cudaMemcpy2DAsync(d, 64, host, 32, 16, 8, cudaMemcpyDeviceToHost, s));
    ask("2D, kind 9", cudaMemcpy2DAsync(d, 64, host, 32, 16, 8, 9, s));
    ask("2D, nothing, kind 9", cudaMemcpy2DAsync(d, 64, host, 32, 0, 8, 9, s));
    ask("2D, past the end",
        cudaMemcpy2DAsync(d, 1 << 15, e, 1 << 15, 64, 3, cudaMemcpyDeviceToDevice, s));
    ask("2D fill", cudaMemset2DAsync(d, 64, 1, 32, 8, s));
    ask("2D fill, wider than its pitch", cudaMemset2DAsync(d, 16, 1, 32, 8, s));
    ask("2D fill, null", cudaMemset2DAsync(NULL, 64, 1, 32, 8, s));
    ask("2D fill, host memory", cudaMemset2DAsync(host, 64, 1, 32, 8, s));
    ask("2D fill, past the end", cudaMemset2DAsync(d, 1 << 15, 1, 32, 3, s));
    ask("3D fill", cudaMemset3DAsync(box, 1, (struct cudaExtent){ 64, 8, 8 }, s));
    ask("3D fill, too many slices", cudaMemset3DAsync(box, 1, (struct cudaExtent){ 64, 8, 9 }, s));
    ask("3D fill, too many rows", cudaMemset3DAsync(box, 1, (struct cudaExtent){ 64, 9, 8 }, s));
    ask("3D fill, no rows", cudaMemset3DAsync(box, 1, (struct cudaExtent){ 64, 0, 8 }, s));
    struct cudaMemcpy3DParms p = { .srcPtr = { host, 64, 64, 8 },
                                   .dstPtr = box,
                                   .extent = { 64, 8, 2 },
                                   .kind = cudaMemcpyHostToDevice };
    ask("3D", cudaMemcpy3DAsync(&p, s));
    p.extent.height = 9;
    ask("3D, more rows than there are", cudaMemcpy3DAsync(&p, s));
    p.extent = (struct cudaExtent){ 65, 8, 2 };
    ask("3D, wider than its pitch", cudaMemcpy3DAsync(&p, s));
    p.extent = (struct cudaExtent){ 0, 8, 2 };
    ask("3D, no width", cudaMemcpy3DAsync(&p, s));
    p.extent = (struct cudaExtent){ 32, 2, 2 }, p.srcPos.x = 40;
    ask("3D, from a place too far", cudaMemcpy3DAsync(&p, s));
    p.srcPos.x = 0, p.kind = 9;
    ask("3D, kind 9", cudaMemcpy3DAsync(&p, s));
    p.kind = cudaMemcpyDeviceToHost;
    ask("3D, wrong way round", cudaMemcpy3DAsync(&p, s));
    p.kind = cudaMemcpyHostToDevice, p.srcPtr.ptr = NULL;
    ask("3D, from null", cudaMemcpy3DAsync(&p, s));
    p.srcPtr.ptr = host, p.srcPtr.pitch = 16;
    ask("3D, wider than its source's pitch", cudaMemcpy3DAsync(&p, s));
    ask("3D, null", cudaMemcpy3DAsync(NULL, s));
    struct cudaMemcpy3DPeerParms peer = { .srcPtr = { d, 64, 64, 8 },
                                          .dstPtr = { e, 64, 64, 8 },
                                          .extent = { 64, 8, 2 } };
    ask("peers", cudaMemcpy3DPeer(&peer));
    peer.dstDevice = 99;
    ask("peers, to device 99", cudaMemcpy3DPeerAsync(&peer, s));
    peer.dstDevice = 0, peer.srcPtr.ptr = host;
    ask("peers, from the host", cudaMemcpy3DPeerAsync(&peer, s));
    ask("peers, null", cudaMemcpy3DPeerAsync(NULL, s));
    ask("plain, to a peer", cudaMemcpyPeerAsync(d, 0, e, 99, 16, s));
    ask("plain, past the end", cudaMemcpyPeerAsync(d, 0, e, 0, 1 << 20, s));
    ask("to a variable", cudaMemcpyToSymbolAsync(variable, host, 16, 0, cudaMemcpyHostToDevice, s));
    ask("past a variable",
        cudaMemcpyToSymbolAsync(variable, host, 16, 60, cudaMemcpyHostToDevice, s));
    ask("from a variable",
        cudaMemcpyFromSymbolAsync(host, variable, 16, 0, cudaMemcpyDeviceToHost, s));
    ask("from a variable, kind 9", cudaMemcpyFromSymbolAsync(host, variable, 16, 0, 9, s));
    ask("from a variable, default",
        cudaMemcpyFromSymbolAsync(host, variable, 16, 0, cudaMemcpyDefault, s));
    ask("afterwards", cudaDeviceSynchronize());
}
