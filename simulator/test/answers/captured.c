// More of captures: which calls end one, which are allowed in it, what becomes of what is captured.
#include "ask.h"

static char host[8192], *page;

static cudaStream_t s, t, free_one;

// Asks, in a capture of its own, what the call gives, and then what the capture's end gives and how
// many nodes.
static void end_of(const char *question)
{
    cudaGraph_t graph = NULL;
    size_t count = 0;
    cudaError_t error = cudaStreamEndCapture(s, &graph), last = cudaGetLastError();
    if (graph) DO(cudaGraphGetNodes(graph, NULL, &count));
    if (last == error) tell(question, "%s, %zu nodes", cudaGetErrorName(error), count);
    else
        tell(question, "%s, last error %s, %zu nodes", cudaGetErrorName(error),
             cudaGetErrorName(last), count);
    if (graph) DO(cudaGraphDestroy(graph));
}
#define IN_CAPTURE(question, call)                                                                 \
    do {                                                                                           \
        DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));                                \
        ask(question, call);                                                                       \
        end_of(question ", end");                                                                  \
    } while (0)

static void prepare(void)
{
    DO(cudaStreamCreate(&s));
    DO(cudaStreamCreate(&t));
    DO(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    DO(launch((const void *)nothing, 1, 1, NULL, 0, 0));
    DO(cudaDeviceSynchronize());
}

GROUP(captured_work, 1)
{
    char *d, *m, *pinned;
    void *p = NULL;
    struct cudaPitchedPtr box;
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaMemPool_t pool;
    cudaEvent_t e;
    prepare();
    DO(cudaMalloc((void **)&d, 1 << 16));
    DO(cudaMallocManaged((void **)&m, 1 << 16, cudaMemAttachGlobal));
    DO(cudaMallocHost((void **)&pinned, 1 << 16));
    DO(cudaMalloc3D(&box, (struct cudaExtent){ 64, 4, 4 }));
    DO(cudaEventCreate(&e));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphInstantiate(&x, g, 0));
    DO(cudaDeviceGetDefaultMemPool(&pool, 0));
    struct cudaMemLocation here = { .type = cudaMemLocationTypeDevice, .id = 0 };
    IN_CAPTURE("copy of rows",
               cudaMemcpy2DAsync(d, 64, pinned, 32, 16, 8, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy of no rows",
               cudaMemcpy2DAsync(d, 64, pinned, 32, 16, 0, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy of rows wider than their pitch",
               cudaMemcpy2DAsync(d, 8, pinned, 32, 16, 8, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy past the end", cudaMemcpyAsync(d, pinned, 1 << 20, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy of nothing", cudaMemcpyAsync(d, pinned, 0, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy of kind 9", cudaMemcpyAsync(d, pinned, 16, 9, s));
    IN_CAPTURE("copy to null", cudaMemcpyAsync(NULL, pinned, 16, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy by default", cudaMemcpyAsync(d, pinned, 16, cudaMemcpyDefault, s));
    IN_CAPTURE("copy out to pageable memory",
               cudaMemcpyAsync(host, d, 16, cudaMemcpyDeviceToHost, s));
    IN_CAPTURE("copy between the host's",
               cudaMemcpyAsync(host, host + 64, 16, cudaMemcpyHostToHost, s));
    IN_CAPTURE("copy of a box",
               cudaMemcpy3DAsync(&(struct cudaMemcpy3DParms){ .srcPtr = { pinned, 64, 64, 4 },
                                                              .dstPtr = box,
                                                              .extent = { 64, 4, 2 },
                                                              .kind = cudaMemcpyHostToDevice },
                                 s));
    IN_CAPTURE("copy to a peer", cudaMemcpyPeerAsync(d, 0, m, 0, 16, s));
    IN_CAPTURE("copy to device 99", cudaMemcpyPeerAsync(d, 99, m, 0, 16, s));
    IN_CAPTURE("copy to a variable",
               cudaMemcpyToSymbolAsync(variable, pinned, 16, 0, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy past a variable",
               cudaMemcpyToSymbolAsync(variable, pinned, 16, 60, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy from a variable",
               cudaMemcpyFromSymbolAsync(pinned, variable, 16, 0, cudaMemcpyDeviceToHost, s));
    IN_CAPTURE("fill", cudaMemsetAsync(d, 1, 64, s));
    IN_CAPTURE("fill of the host's memory", cudaMemsetAsync(host, 1, 64, s));
    IN_CAPTURE("fill past the end", cudaMemsetAsync(d, 1, 1 << 20, s));
    IN_CAPTURE("fill of rows", cudaMemset2DAsync(d, 64, 1, 32, 8, s));
    IN_CAPTURE("fill of a box", cudaMemset3DAsync(box, 1, (struct cudaExtent){ 64, 4, 4 }, s));
    IN_CAPTURE("fill of no rows", cudaMemset2DAsync(d, 64, 1, 32, 0, s));
    IN_CAPTURE("allocate", cudaMallocAsync(&p, 4096, s));
    IN_CAPTURE("allocate to nowhere", cudaMallocAsync(NULL, 4096, s));
    IN_CAPTURE("allocate a petabyte", cudaMallocAsync(&p, (size_t)1 << 50, s));
    IN_CAPTURE("allocate from a pool", cudaMallocFromPoolAsync(&p, 4096, pool, s));
    IN_CAPTURE("allocate and free", (DO(cudaMallocAsync(&p, 4096, s)), cudaFreeAsync(p, s)));
    IN_CAPTURE("allocate and free twice",
               (DO(cudaMallocAsync(&p, 4096, s)), DO(cudaFreeAsync(p, s)), cudaFreeAsync(p, s)));
    IN_CAPTURE("allocate and free inside",
               (DO(cudaMallocAsync(&p, 4096, s)), cudaFreeAsync((char *)p + 16, s)));
    IN_CAPTURE("allocate and cudaFree", (DO(cudaMallocAsync(&p, 4096, s)), cudaFree(p)));
    IN_CAPTURE("free null", cudaFreeAsync(NULL, s));
    IN_CAPTURE("prefetch", cudaMemPrefetchAsync(m, 4096, here, 0, s));
    IN_CAPTURE("attach", cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
    IN_CAPTURE("launch a graph", cudaGraphLaunch(x, s));
    IN_CAPTURE("launch a graph elsewhere", cudaGraphLaunch(x, free_one));
    IN_CAPTURE("upload a graph", cudaGraphUpload(x, s));
    IN_CAPTURE("instantiate a graph", cudaGraphInstantiate(&(cudaGraphExec_t){ 0 }, g, 0));
    IN_CAPTURE("cooperative launch",
               cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 1, 1, 1 },
                                           (dim3){ 32, 1, 1 }, NULL, 0, s));
    IN_CAPTURE("cooperative launch of too many",
               cudaLaunchCooperativeKernel((const void *)nothing, (dim3){ 100000, 1, 1 },
                                           (dim3){ 32, 1, 1 }, NULL, 0, s));
    IN_CAPTURE("launch with too much shared memory",
               launch((const void *)nothing, 1, 32, NULL, 300000, s));
    IN_CAPTURE("launch of null", launch(NULL, 1, 1, NULL, 0, s));
    IN_CAPTURE("record as an external one",
               cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    IN_CAPTURE("wait for an external one", cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    IN_CAPTURE("record with flags 2", cudaEventRecordWithFlags(e, s, 2));
    IN_CAPTURE("record on another stream", cudaEventRecord(e, free_one));
    IN_CAPTURE("wait with flags 2", cudaStreamWaitEvent(s, e, 2));
    IN_CAPTURE("wait for null", cudaStreamWaitEvent(s, NULL, 0));
    IN_CAPTURE("wait for one never recorded",
               (DO(cudaEventCreate(&e)), cudaStreamWaitEvent(s, e, 0)));
    void *to[] = { d };
    const void *from[] = { pinned };
    size_t sizes[] = { 16 }, first[] = { 0 };
    struct cudaMemcpyAttributes attributes = { .srcAccessOrder = cudaMemcpySrcAccessOrderStream };
    IN_CAPTURE("a batch of copies",
               cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, first, 1, s));
    void *ranges[] = { m };
    IN_CAPTURE("a batch of prefetches",
               cudaMemPrefetchBatchAsync(ranges, sizes, 1, &here, first, 1, 0, s));
    IN_CAPTURE("a batch of discards", cudaMemDiscardBatchAsync(ranges, sizes, 1, 0, s));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(captured_calls, 1)
{
    char *d, *pinned, id[32];
    void *p = NULL;
    int value;
    size_t size;
    float ms;
    unsigned flags;
    unsigned long long number;
    cudaEvent_t a, b;
    cudaMemPool_t pool;
    cudaLaunchAttributeValue v;
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes pointer;
    struct cudaDeviceProp prop;
    cudaIpcMemHandle_t handle;
    cudaLibrary_t library;
    struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned,
                                      .location = { .type = cudaMemLocationTypeDevice, .id = 0 } };
    prepare();
    page = aligned_alloc(4096, 4096);
    DO(cudaMalloc((void **)&d, 1 << 16));
    DO(cudaMallocHost((void **)&pinned, 1 << 16));
    DO(cudaEventCreate(&a));
    DO(cudaEventCreate(&b));
    DO(cudaEventRecord(a, t));
    DO(cudaEventRecord(b, t));
    DO(cudaStreamSynchronize(t));
    memset(&v, 0, sizeof v);
    IN_CAPTURE("free", cudaFree(d));
    IN_CAPTURE("free pinned", cudaFreeHost(pinned));
    IN_CAPTURE("rows", cudaMallocPitch(&p, &size, 64, 4));
    IN_CAPTURE("a box",
               cudaMalloc3D(&(struct cudaPitchedPtr){ 0 }, (struct cudaExtent){ 4, 4, 4 }));
    IN_CAPTURE("pinned, with flags", cudaHostAlloc(&p, 64, cudaHostAllocMapped));
    IN_CAPTURE("register", cudaHostRegister(page, 4096, 0));
    IN_CAPTURE("unregister", cudaHostUnregister(page));
    IN_CAPTURE("device pointer", cudaHostGetDevicePointer(&p, pinned, 0));
    IN_CAPTURE("malloc of nothing", cudaMalloc(&p, 0));
    IN_CAPTURE("malloc to nowhere", cudaMalloc(NULL, 16));
    IN_CAPTURE("copy between the host's at once",
               cudaMemcpy(host, host + 64, 16, cudaMemcpyHostToHost));
    IN_CAPTURE("copy of nothing at once", cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
    IN_CAPTURE("copy on the device at once", cudaMemcpy(d, d + 64, 16, cudaMemcpyDeviceToDevice));
    IN_CAPTURE("copy to a variable at once",
               cudaMemcpyToSymbol(variable, host, 16, 0, cudaMemcpyHostToDevice));
    IN_CAPTURE("fill of rows at once", cudaMemset2D(d, 64, 0, 16, 4));
    IN_CAPTURE("address of a variable", cudaGetSymbolAddress(&p, variable));
    IN_CAPTURE("size of a variable", cudaGetSymbolSize(&size, variable));
    IN_CAPTURE("a kernel's attributes", cudaFuncGetAttributes(&attributes, (const void *)nothing));
    IN_CAPTURE("occupancy",
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, (const void *)nothing, 32, 0));
    IN_CAPTURE("a pointer", cudaPointerGetAttributes(&pointer, d));
    IN_CAPTURE("properties", cudaGetDeviceProperties(&prop, 0));
    IN_CAPTURE("get a limit", cudaDeviceGetLimit(&size, cudaLimitStackSize));
    IN_CAPTURE("time between events", cudaEventElapsedTime(&ms, a, b));
    IN_CAPTURE("destroy an event", cudaEventDestroy(b));
    IN_CAPTURE("destroy another stream", cudaStreamDestroy(t));
    IN_CAPTURE("its flags", cudaStreamGetFlags(s, &flags));
    IN_CAPTURE("its priority", cudaStreamGetPriority(s, &value));
    IN_CAPTURE("its id", cudaStreamGetId(s, &number));
    IN_CAPTURE("its device", cudaStreamGetDevice(s, &value));
    IN_CAPTURE("get its attribute", cudaStreamGetAttribute(s, cudaLaunchAttributePriority, &v));
    IN_CAPTURE("set its attribute", cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &v));
    IN_CAPTURE("copy its attributes", cudaStreamCopyAttributes(free_one, s));
    IN_CAPTURE("create with a priority", cudaStreamCreateWithPriority(&(cudaStream_t){ 0 }, 0, -1));
    IN_CAPTURE("create a pool", cudaMemPoolCreate(&pool, &props));
    IN_CAPTURE("the default pool", cudaDeviceGetDefaultMemPool(&pool, 0));
    IN_CAPTURE("trim a pool", cudaMemPoolTrimTo(pool, 0));
    IN_CAPTURE("trim graphs' memory", cudaDeviceGraphMemTrim(0));
    IN_CAPTURE("allocate on another stream", cudaMallocAsync(&p, 64, free_one));
    IN_CAPTURE("share memory", cudaIpcGetMemHandle(&handle, d));
    IN_CAPTURE("load a library",
               cudaLibraryLoadData(
                   &library,
                   ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n",
                   NULL, NULL, 0, NULL, NULL, 0));
    IN_CAPTURE("bus", cudaDeviceGetPCIBusId(id, sizeof id, 0));
    IN_CAPTURE("give the L2 cache back", cudaCtxResetPersistingL2Cache());
    IN_CAPTURE("initialise", cudaInitDevice(0, 0, 0));
    IN_CAPTURE("cache preference", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    IN_CAPTURE("last error", cudaGetLastError());
    IN_CAPTURE("launch of no blocks on another stream",
               launch((const void *)nothing, 0, 1, NULL, 0, free_one));
    IN_CAPTURE("host function on another stream",
               cudaLaunchHostFunc(free_one, (cudaHostFn_t)free, NULL));
    ask("afterwards", cudaDeviceSynchronize());
}

GROUP(captures_into_graphs, 1)
{
    cudaGraph_t g, other, got = NULL;
    cudaGraphNode_t node, foreign;
    cudaEvent_t e;
    size_t count = 77;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 77;
    prepare();
    DO(cudaEventCreate(&e));
    DO(cudaGraphCreate(&g, 0));
    DO(cudaGraphCreate(&other, 0));
    DO(cudaGraphAddEmptyNode(&node, g, NULL, 0));
    DO(cudaGraphAddEmptyNode(&foreign, other, NULL, 0));
    ask("behind another graph's node",
        cudaStreamBeginCaptureToGraph(s, g, &foreign, NULL, 1, cudaStreamCaptureModeGlobal));
    ask("mode 9", cudaStreamBeginCaptureToGraph(s, g, &node, NULL, 1, 9));
    ask("on the legacy stream",
        cudaStreamBeginCaptureToGraph(0, g, &node, NULL, 1, cudaStreamCaptureModeGlobal));
    ask("begin", cudaStreamBeginCaptureToGraph(s, g, &node, NULL, 1, cudaStreamCaptureModeGlobal));
    ask("begin twice",
        cudaStreamBeginCaptureToGraph(s, g, &node, NULL, 1, cudaStreamCaptureModeGlobal));
    ask("add a node meanwhile", cudaGraphAddEmptyNode(&foreign, g, NULL, 0));
    ask("clone it meanwhile", cudaGraphClone(&(cudaGraph_t){ 0 }, g));
    ask("nodes meanwhile", cudaGraphGetNodes(g, NULL, &count));
    tell("nodes meanwhile", "%zu", count);
    ask("kernel", launch((const void *)nothing, 1, 1, NULL, 0, s));
    ask("info", cudaStreamGetCaptureInfo(s, &status, &id, &got, NULL, NULL, NULL));
    tell("info", "status %d, %s graph", (int)status, got == g ? "that" : "another");
    ask("end", cudaStreamEndCapture(s, &got));
    DO(cudaGraphGetNodes(g, NULL, &count));
    tell("end", "%s, %zu nodes", got == g ? "that graph" : "another", count);
    ask("begin, then a call that is not allowed",
        cudaStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    ask("a call that is not allowed", cudaStreamSynchronize(s));
    ask("kernel after that", launch((const void *)nothing, 1, 1, NULL, 0, s));
    ask("record after that", cudaEventRecord(e, s));
    ask("malloc after that", cudaMalloc((void **)&(char *){ 0 }, 16));
    ask("status after that", cudaStreamIsCapturing(s, &status));
    tell("status after that", "%d", (int)status);
    got = (cudaGraph_t)7;
    ask("end of that", cudaStreamEndCapture(s, &got));
    tell("end of that", "%s", got == (cudaGraph_t)7 ? "as it was" : got ? "some" : "null");
    ask("status at last", cudaStreamIsCapturing(s, &status));
    tell("status at last", "%d", (int)status);
    ask("instantiate what is left", cudaGraphInstantiate(&(cudaGraphExec_t){ 0 }, g, 0));
    ask("dependencies, flags 9", cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 9));
    ask("afterwards", cudaDeviceSynchronize());
}
