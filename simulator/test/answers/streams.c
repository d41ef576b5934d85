// Streams, events, callbacks, and calls with handles that are no more.
#include "ask.h"
#include <pthread.h>

static char host[64];

GROUP(streams, 1)
{
    cudaStream_t s, t, last;
    unsigned flags = 9;
    int value = 0, least = 0, greatest = 0;
    ask("create to nowhere", cudaStreamCreate(NULL));
    ask("create with flags 9", cudaStreamCreateWithFlags(&s, 9));
    ask("create with priority 7", cudaStreamCreateWithPriority(&last, 0, 7));
    DO(cudaStreamGetPriority(last, &value));
    tell("priority 7 becomes", "%d", value);
    DO(cudaStreamDestroy(last));
    ask("create with priority -100", cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -100));
    DO(cudaStreamGetPriority(t, &value));
    tell("priority -100 becomes", "%d", value);
    DO(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    tell("priorities", "%d to %d", least, greatest);
    ask("priorities to nowhere", cudaDeviceGetStreamPriorityRange(NULL, NULL));
    DO(cudaStreamCreate(&s));
    ask("flags of the legacy stream", cudaStreamGetFlags(0, &flags));
    tell("its flags are", "%u", flags);
    ask("flags of cudaStreamLegacy", cudaStreamGetFlags(cudaStreamLegacy, &flags));
    ask("flags of the thread's stream", cudaStreamGetFlags(cudaStreamPerThread, &flags));
    tell("the thread's stream has flags", "%u", flags);
    ask("flags to nowhere", cudaStreamGetFlags(s, NULL));
    ask("flags of a stream that does not block", cudaStreamGetFlags(t, &flags));
    tell("that has flags", "%u", flags);
    ask("priority to nowhere", cudaStreamGetPriority(s, NULL));
    ask("device of a stream", cudaStreamGetDevice(s, &value));
    ask("query", cudaStreamQuery(s));
    ask("query the legacy stream", cudaStreamQuery(0));
    ask("destroy the legacy stream", cudaStreamDestroy(0));
    ask("destroy cudaStreamLegacy", cudaStreamDestroy(cudaStreamLegacy));
    ask("destroy the thread's stream", cudaStreamDestroy(cudaStreamPerThread));
    ask("callback of null", cudaStreamAddCallback(s, NULL, NULL, 0));
    ask("host function of null", cudaLaunchHostFunc(s, NULL, NULL));
    ask("wait for no event", cudaStreamWaitEvent(s, NULL, 0));
    ask("destroy", cudaStreamDestroy(s));
    ask("afterwards", cudaDeviceSynchronize());
}

static void attribute_of(const char *whose, cudaStream_t s)
{
    for (int id = 0; id <= 17; id++) {
        cudaLaunchAttributeValue value;
        char question[80], words[3 * 16 + 1];
        memset(&value, 0, sizeof value);
        cudaError_t error = cudaStreamGetAttribute(s, (cudaLaunchAttributeID)id, &value),
                    last = cudaGetLastError();
        for (int i = 0; i < 16; i++) sprintf(words + 3 * i, " %02x", (unsigned char)value.pad[i]);
        snprintf(question, sizeof question, "attribute %d of %s", id, whose);
        if (error)
            tell(question, "%s, last error %s", cudaGetErrorName(error), cudaGetErrorName(last));
        else tell(question, "%s", words + 1);
    }
}

GROUP(stream_attributes, 1)
{
    cudaStream_t s, t;
    cudaLaunchAttributeValue v;
    char *d;
    DO(cudaStreamCreate(&s));
    DO(cudaStreamCreateWithPriority(&t, 0, -3));
    DO(cudaMalloc((void **)&d, 1 << 20));
    attribute_of("a stream", s);
    attribute_of("the legacy stream", 0);
    memset(&v, 0, sizeof v);
    v.syncPolicy = cudaSyncPolicyBlockingSync;
    ask("set how to wait", cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
    memset(&v, 0, sizeof v);
    DO(cudaStreamGetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
    tell("how to wait", "%d", v.syncPolicy);
    v.syncPolicy = 9;
    ask("set how to wait to 9",
        cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
    v.syncPolicy = 0;
    ask("set how to wait to 0",
        cudaStreamSetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v));
    memset(&v, 0, sizeof v);
    v.priority = -2;
    ask("set a priority", cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &v));
    v.priority = -20;
    ask("set priority -20", cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &v));
    v.priority = 99;
    DO(cudaStreamGetAttribute(s, cudaLaunchAttributePriority, &v));
    tell("priority", "%d", v.priority);
    int priority = 99;
    DO(cudaStreamGetPriority(s, &priority));
    tell("priority as cudaStreamGetPriority has it", "%d", priority);
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, 1 << 20, 1, cudaAccessPropertyPersisting,
                                         cudaAccessPropertyStreaming };
    ask("set a window", cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    memset(&v, 0, sizeof v);
    DO(cudaStreamGetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    tell("the window", "%s, %zu bytes, ratio %g, hit %d, miss %d",
         v.accessPolicyWindow.base_ptr == d ? "the memory" : "elsewhere",
         v.accessPolicyWindow.num_bytes, v.accessPolicyWindow.hitRatio,
         v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
    ask("copy attributes", cudaStreamCopyAttributes(t, s));
    memset(&v, 0, sizeof v);
    DO(cudaStreamGetAttribute(t, cudaLaunchAttributeAccessPolicyWindow, &v));
    tell("the copied window", "%zu bytes", v.accessPolicyWindow.num_bytes);
    DO(cudaStreamGetAttribute(t, cudaLaunchAttributePriority, &v));
    tell("the copied priority", "%d", v.priority);
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, 1 << 20, 2, cudaAccessPropertyPersisting,
                                         cudaAccessPropertyStreaming };
    ask("set a window of ratio 2",
        cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, 1 << 20, 1, cudaAccessPropertyPersisting,
                                         cudaAccessPropertyPersisting };
    ask("set a window whose misses persist",
        cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, (size_t)1 << 40, 1, cudaAccessPropertyPersisting,
                                         cudaAccessPropertyStreaming };
    ask("set a window of a terabyte",
        cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow =
        (struct cudaAccessPolicyWindow){ d, 1 << 20, 1, 9, cudaAccessPropertyStreaming };
    ask("set a window with property 9",
        cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow = (struct cudaAccessPolicyWindow){ d, 0, 0, cudaAccessPropertyNormal,
                                                            cudaAccessPropertyNormal };
    ask("set a window of no bytes",
        cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    ask("set attribute 2", cudaStreamSetAttribute(s, cudaLaunchAttributeCooperative, &v));
    ask("set attribute 99", cudaStreamSetAttribute(s, (cudaLaunchAttributeID)99, &v));
    ask("get to nowhere", cudaStreamGetAttribute(s, cudaLaunchAttributePriority, NULL));
    ask("set to nothing", cudaStreamSetAttribute(s, cudaLaunchAttributePriority, NULL));
    memset(&v, 0, sizeof v);
    v.priority = -1;
    ask("set the legacy stream's priority",
        cudaStreamSetAttribute(0, cudaLaunchAttributePriority, &v));
    v.syncPolicy = cudaSyncPolicySpin;
    ask("set how to wait for the legacy stream",
        cudaStreamSetAttribute(0, cudaLaunchAttributeSynchronizationPolicy, &v));
    v.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    ask("set the domain", cudaStreamSetAttribute(s, cudaLaunchAttributeMemSyncDomain, &v));
    ask("copy attributes of the legacy stream", cudaStreamCopyAttributes(t, 0));
    ask("give the L2 cache back", cudaCtxResetPersistingL2Cache());
    ask("afterwards", cudaDeviceSynchronize());
}

// Some milliseconds of it, and the event behind it.
static void work(cudaStream_t s, cudaEvent_t behind)
{
    int milliseconds = 20;
    void *arguments[] = { &milliseconds };
    DO(launch((const void *)last_for, 1, 1, arguments, 0, s));
    if (behind) DO(cudaEventRecord(behind, s));
}

GROUP(events, 1)
{
    cudaEvent_t a, b, untimed, never;
    cudaStream_t s;
    float ms = 0;
    DO(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    ask("create to nowhere", cudaEventCreate(NULL));
    ask("create with flags 8", cudaEventCreateWithFlags(&a, 8));
    ask("create between processes, with times",
        cudaEventCreateWithFlags(&a, cudaEventInterprocess));
    ask("create between processes",
        cudaEventCreateWithFlags(&a, cudaEventInterprocess | cudaEventDisableTiming));
    DO(cudaEventCreate(&a));
    DO(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
    DO(cudaEventCreate(&never));
    DO(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    ask("query one not recorded", cudaEventQuery(never));
    ask("wait on the host for one not recorded", cudaEventSynchronize(never));
    ask("wait on a stream for one not recorded", cudaStreamWaitEvent(s, never, 0));
    ask("between two not recorded", cudaEventElapsedTime(&ms, a, b));
    ask("record null", cudaEventRecord(NULL, s));
    ask("record with flags 2", cudaEventRecordWithFlags(a, s, 2));
    ask("record as an external one, outside of a capture",
        cudaEventRecordWithFlags(a, s, cudaEventRecordExternal));
    ask("wait with flags 2", cudaStreamWaitEvent(s, a, 2));
    ask("query null", cudaEventQuery(NULL));
    ask("wait on the host for null", cudaEventSynchronize(NULL));
    ask("destroy null", cudaEventDestroy(NULL));
    DO(cudaEventRecord(a, s));
    ask("from one recorded to one not", cudaEventElapsedTime(&ms, a, never));
    ask("from one not recorded", cudaEventElapsedTime(&ms, never, a));
    ask("to nowhere", cudaEventElapsedTime(NULL, a, a));
    ask("from null", cudaEventElapsedTime(&ms, NULL, a));
    work(s, NULL);
    ask("query a stream at work", cudaStreamQuery(s));
    work(s, b);
    ask("query an event to come", cudaEventQuery(b));
    work(s, b);
    ask("to an event to come", cudaEventElapsedTime(&ms, a, b));
    work(s, b);
    ask("from an event to come to itself", cudaEventElapsedTime(&ms, b, b));
    work(s, b);
    ask("from an event to come to one not recorded", cudaEventElapsedTime(&ms, b, never));
    work(s, untimed);
    ask("to an event to come without times", cudaEventElapsedTime(&ms, a, untimed));
    work(s, b);
    ask("destroy an event to come", cudaEventDestroy(b));
    work(s, NULL);
    ask("destroy a stream at work", cudaStreamDestroy(s));
    ask("afterwards", cudaDeviceSynchronize());
    ask("from an event to one without times", cudaEventElapsedTime(&ms, a, untimed));
    ask("from an event to itself", cudaEventElapsedTime(&ms, a, a));
    tell("from an event to itself it takes", "%g", ms);
}

// ---- What may be called by the host in a stream's order

static cudaEvent_t event_in_callback;

static void call_within(void *data)
{
    int value;
    void *p;
    (void)data;
    ask("within, last error", cudaGetLastError());
    ask("within, device", cudaGetDevice(&value));
    ask("within, how many devices", cudaGetDeviceCount(&value));
    ask("within, attribute", cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    ask("within, malloc", cudaMalloc(&p, 16));
    ask("within, free null", cudaFree(NULL));
    ask("within, query a stream", cudaStreamQuery(0));
    ask("within, query an event", cudaEventQuery(event_in_callback));
    ask("within, wait for the device", cudaDeviceSynchronize());
    ask("within, copy", cudaMemcpy(host, host + 32, 4, cudaMemcpyHostToHost));
    ask("within, launch", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("within, create an event", cudaEventCreate(&(cudaEvent_t){ 0 }));
    ask("within, pinned", cudaMallocHost(&p, 16));
}

static void call_back(cudaStream_t stream, cudaError_t status, void *data)
{
    cudaStream_t *mine = data;
    void *p;
    tell("callback, stream", "%s", stream == *mine ? "as given" : "another");
    ask("callback, status", status);
    ask("callback, malloc", cudaMalloc(&p, 16));
    ask("callback, query a stream", cudaStreamQuery(0));
}

GROUP(callbacks, 1)
{
    cudaStream_t s;
    DO(cudaEventCreate(&event_in_callback));
    DO(cudaEventRecord(event_in_callback, 0));
    DO(cudaStreamCreate(&s));
    DO(cudaDeviceSynchronize());
    ask("host function", cudaLaunchHostFunc(s, call_within, NULL));
    ask("wait for it", cudaStreamSynchronize(s));
    ask("callback", cudaStreamAddCallback(s, call_back, &s, 0));
    ask("wait for that", cudaStreamSynchronize(s));
    ask("callback with flags 1", cudaStreamAddCallback(s, call_back, &s, 1));
    ask("afterwards", cudaDeviceSynchronize());
}

// ---- Handles that are no more. A GPU's driver may do anything with them; these groups are small.

GROUP(destroyed_stream, 1)
{
    cudaStream_t s;
    DO(cudaStreamCreate(&s));
    DO(cudaStreamDestroy(s));
    ask("synchronize", cudaStreamSynchronize(s));
    ask("query", cudaStreamQuery(s));
    ask("launch", launch((const void *)nothing, 1, 1, NULL, 0, s));
    ask("destroy", cudaStreamDestroy(s));
}

GROUP(destroyed_event, 1)
{
    cudaEvent_t e;
    DO(cudaEventCreate(&e));
    DO(cudaEventDestroy(e));
    ask("query", cudaEventQuery(e));
    ask("record", cudaEventRecord(e, 0));
    ask("synchronize", cudaEventSynchronize(e));
    ask("destroy", cudaEventDestroy(e));
}

GROUP(made_up_stream, 1)
{
    DO(cudaFree(NULL));
    ask("synchronize", cudaStreamSynchronize((cudaStream_t)(uintptr_t)host));
}

GROUP(made_up_event, 1)
{
    DO(cudaFree(NULL));
    ask("synchronize", cudaEventSynchronize((cudaEvent_t)(uintptr_t)host));
}

// ---- Captures

static void capturing(const char *question, cudaStream_t s)
{
    enum cudaStreamCaptureStatus status = 9;
    cudaError_t error = cudaStreamIsCapturing(s, &status);
    tell(question, "%s, status %d", cudaGetErrorName(error), (int)status);
}

// Asks, of a capture of its own, what the call gives and what is then left of the capture.
#define IN_CAPTURE(question, mode, call)                                                           \
    do {                                                                                           \
        cudaGraph_t graph = NULL;                                                                  \
        DO(cudaStreamBeginCapture(s, mode));                                                       \
        ask(question, call);                                                                       \
        ask(question ", end", cudaStreamEndCapture(s, &graph));                                    \
        if (graph) DO(cudaGraphDestroy(graph));                                                    \
    } while (0)

static cudaStream_t captured;

static void *end_elsewhere(void *unused)
{
    cudaGraph_t graph = NULL;
    (void)unused;
    ask("end in another thread", cudaStreamEndCapture(captured, &graph));
    return NULL;
}

GROUP(captures, 1)
{
    cudaStream_t s, t, free_one;
    cudaGraph_t g = NULL;
    cudaEvent_t e, before;
    char *d, *pinned;
    void *p;
    float ms;
    size_t nodes = 0;
    DO(cudaStreamCreate(&s));
    DO(cudaStreamCreate(&t));
    DO(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    DO(cudaEventCreate(&e));
    DO(cudaEventCreate(&before));
    DO(cudaMalloc((void **)&d, 64));
    DO(cudaMallocHost((void **)&pinned, 64));
    DO(launch((const void *)nothing, 1, 1, NULL, 0, 0));
    DO(cudaDeviceSynchronize());
    ask("begin on the legacy stream", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    ask("begin on cudaStreamLegacy",
        cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
    ask("begin with mode 9", cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)9));
    ask("end what has not begun", cudaStreamEndCapture(s, &g));
    ask("end on the legacy stream", cudaStreamEndCapture(0, &g));
    ask("begin on the thread's stream",
        cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    ask("end on the thread's stream", cudaStreamEndCapture(cudaStreamPerThread, &g));
    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    ask("begin twice", cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    ask("begin another", cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal));
    ask("end another", cudaStreamEndCapture(t, &g));
    capturing("captured", s);
    capturing("the legacy stream meanwhile", 0);
    capturing("another stream meanwhile", t);
    ask("end to nowhere", cudaStreamEndCapture(s, NULL));
    capturing("after that", s);
    g = NULL;
    cudaStreamEndCapture(s, &g);
    cudaGetLastError();

    IN_CAPTURE("synchronize it", cudaStreamCaptureModeGlobal, cudaStreamSynchronize(s));
    IN_CAPTURE("synchronize another", cudaStreamCaptureModeGlobal, cudaStreamSynchronize(free_one));
    IN_CAPTURE("synchronize the legacy stream", cudaStreamCaptureModeGlobal,
               cudaStreamSynchronize(0));
    IN_CAPTURE("query it", cudaStreamCaptureModeGlobal, cudaStreamQuery(s));
    IN_CAPTURE("query another", cudaStreamCaptureModeGlobal, cudaStreamQuery(free_one));
    IN_CAPTURE("query another, thread's mode", cudaStreamCaptureModeThreadLocal,
               cudaStreamQuery(free_one));
    IN_CAPTURE("query another, relaxed", cudaStreamCaptureModeRelaxed, cudaStreamQuery(free_one));
    IN_CAPTURE("synchronize the device", cudaStreamCaptureModeGlobal, cudaDeviceSynchronize());
    IN_CAPTURE("synchronize the device, relaxed", cudaStreamCaptureModeRelaxed,
               cudaDeviceSynchronize());
    IN_CAPTURE("malloc", cudaStreamCaptureModeGlobal, cudaMalloc(&p, 16));
    IN_CAPTURE("malloc, relaxed", cudaStreamCaptureModeRelaxed, cudaMalloc(&p, 16));
    IN_CAPTURE("free null", cudaStreamCaptureModeGlobal, cudaFree(NULL));
    IN_CAPTURE("pinned", cudaStreamCaptureModeGlobal, cudaMallocHost(&p, 16));
    IN_CAPTURE("managed", cudaStreamCaptureModeGlobal,
               cudaMallocManaged(&p, 16, cudaMemAttachGlobal));
    IN_CAPTURE("register", cudaStreamCaptureModeGlobal, cudaHostRegister(host, 16, 0));
    IN_CAPTURE("create an event", cudaStreamCaptureModeGlobal,
               cudaEventCreate(&(cudaEvent_t){ 0 }));
    IN_CAPTURE("create a stream", cudaStreamCaptureModeGlobal,
               cudaStreamCreate(&(cudaStream_t){ 0 }));
    IN_CAPTURE("set the device", cudaStreamCaptureModeGlobal, cudaSetDevice(0));
    IN_CAPTURE("how much is free", cudaStreamCaptureModeGlobal, cudaMemGetInfo(NULL, &nodes));
    IN_CAPTURE("attributes of a kernel", cudaStreamCaptureModeGlobal,
               cudaFuncSetAttribute((const void *)dynamic_shared,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    IN_CAPTURE("limit", cudaStreamCaptureModeGlobal, cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    IN_CAPTURE("copy", cudaStreamCaptureModeGlobal,
               cudaMemcpy(pinned, d, 16, cudaMemcpyDeviceToHost));
    IN_CAPTURE("copy, relaxed", cudaStreamCaptureModeRelaxed,
               cudaMemcpy(pinned, d, 16, cudaMemcpyDeviceToHost));
    IN_CAPTURE("fill", cudaStreamCaptureModeGlobal, cudaMemset(d, 0, 16));
    IN_CAPTURE("launch on the legacy stream", cudaStreamCaptureModeGlobal,
               launch((const void *)nothing, 1, 1, NULL, 0, 0));
    IN_CAPTURE("launch on the legacy stream, relaxed", cudaStreamCaptureModeRelaxed,
               launch((const void *)nothing, 1, 1, NULL, 0, 0));
    IN_CAPTURE("launch on another stream", cudaStreamCaptureModeGlobal,
               launch((const void *)nothing, 1, 1, NULL, 0, t));
    IN_CAPTURE("launch of 2048 threads", cudaStreamCaptureModeGlobal,
               launch((const void *)nothing, 1, 2048, NULL, 0, s));
    IN_CAPTURE("launch of no blocks", cudaStreamCaptureModeGlobal,
               launch((const void *)nothing, 0, 1, NULL, 0, s));
    IN_CAPTURE("copy wrong way round", cudaStreamCaptureModeGlobal,
               cudaMemcpyAsync(pinned, d, 16, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("copy of pageable memory", cudaStreamCaptureModeGlobal,
               cudaMemcpyAsync(d, host, 16, cudaMemcpyHostToDevice, s));
    IN_CAPTURE("fill null", cudaStreamCaptureModeGlobal, cudaMemsetAsync(NULL, 0, 16, s));
    IN_CAPTURE("fill no bytes", cudaStreamCaptureModeGlobal, cudaMemsetAsync(d, 0, 0, s));
    IN_CAPTURE("free what is not the graph's", cudaStreamCaptureModeGlobal, cudaFreeAsync(d, s));
    IN_CAPTURE("allocate nothing", cudaStreamCaptureModeGlobal, cudaMallocAsync(&p, 0, s));
    IN_CAPTURE(
        "prefetch", cudaStreamCaptureModeGlobal,
        cudaMemPrefetchAsync(
            d, 16, (struct cudaMemLocation){ .type = cudaMemLocationTypeDevice, .id = 0 }, 0, s));
    IN_CAPTURE("host function of null", cudaStreamCaptureModeGlobal,
               cudaLaunchHostFunc(s, NULL, NULL));
    IN_CAPTURE("callback", cudaStreamCaptureModeGlobal, cudaStreamAddCallback(s, call_back, &s, 0));
    IN_CAPTURE("query an event from before", cudaStreamCaptureModeGlobal, cudaEventQuery(before));
    IN_CAPTURE("record an event on the legacy stream", cudaStreamCaptureModeGlobal,
               cudaEventRecord(before, 0));
    IN_CAPTURE("synchronize an event from before", cudaStreamCaptureModeGlobal,
               cudaEventSynchronize(before));
    IN_CAPTURE("end on another stream", cudaStreamCaptureModeGlobal, cudaStreamEndCapture(t, &g));

    DO(cudaEventRecord(before, t));
    IN_CAPTURE("wait for an event from before", cudaStreamCaptureModeGlobal,
               cudaStreamWaitEvent(s, before, 0));
    IN_CAPTURE("record null", cudaStreamCaptureModeGlobal, cudaEventRecord(NULL, s));
    IN_CAPTURE("record in it", cudaStreamCaptureModeGlobal, cudaEventRecord(e, s));
    ask("query the captured event", cudaEventQuery(e));
    ask("synchronize the captured event", cudaEventSynchronize(e));
    ask("time of the captured event", cudaEventElapsedTime(&ms, before, e));
    ask("wait for the captured event after the end", cudaStreamWaitEvent(t, e, 0));
    capturing("that stream then", t);
    DO(cudaEventDestroy(e));
    DO(cudaEventCreate(&e));

    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    DO(cudaEventRecord(e, s));
    ask("join another stream", cudaStreamWaitEvent(t, e, 0));
    capturing("joined", t);
    DO(launch((const void *)nothing, 1, 1, NULL, 0, t));
    ask("end on the joined stream", cudaStreamEndCapture(t, &g));
    ask("end with it unjoined", cudaStreamEndCapture(s, &g));
    tell("graph of that", "%s", g ? "some" : "null");
    capturing("joined, afterwards", t);

    cudaGraph_t first = NULL, second = NULL;
    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    DO(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    DO(cudaEventRecord(e, s));
    ask("wait for another capture's event", cudaStreamWaitEvent(t, e, 0));
    ask("end the one", cudaStreamEndCapture(s, &first));
    ask("end the other", cudaStreamEndCapture(t, &second));

    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    pthread_t thread;
    captured = s;
    if (!pthread_create(&thread, NULL, end_elsewhere, NULL)) pthread_join(thread, NULL);
    ask("end where it began", cudaStreamEndCapture(s, &g));
    DO(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    if (!pthread_create(&thread, NULL, end_elsewhere, NULL)) pthread_join(thread, NULL);
    ask("end again where it began", cudaStreamEndCapture(s, &g));

    enum cudaStreamCaptureMode mode = 9;
    ask("exchange with mode 9", cudaThreadExchangeStreamCaptureMode(&mode));
    mode = cudaStreamCaptureModeRelaxed;
    ask("exchange", cudaThreadExchangeStreamCaptureMode(&mode));
    tell("it was", "%d", (int)mode);
    ask("exchange with null", cudaThreadExchangeStreamCaptureMode(NULL));
    DO(cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal));
    ask("destroy a captured stream", cudaStreamDestroy(t));
    ask("status of the legacy stream to nowhere", cudaStreamIsCapturing(s, NULL));
    ask("afterwards", cudaDeviceSynchronize());
}
