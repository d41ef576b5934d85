// What waits for what without being told to: the legacy default stream, streams that block and that
// do not, the threads' own.
#include "ask.h"
#include <pthread.h>

static cudaStream_t plain, other, free_one, own = cudaStreamPerThread;
static char *device_memory, *pinned;
static char pageable[1 << 16];

// The device has nothing to do but some milliseconds on one stream.
static void work(cudaStream_t s)
{
    int milliseconds = 20;
    void *arguments[] = { &milliseconds };
    DO(cudaDeviceSynchronize());
    DO(launch((const void *)last_for, 1, 1, arguments, 0, s));
}

static void prepare(void)
{
    DO(cudaStreamCreate(&plain));
    DO(cudaStreamCreate(&other));
    DO(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    DO(cudaMalloc((void **)&device_memory, 1 << 20));
    DO(cudaMallocHost((void **)&pinned, 1 << 20));
    DO(launch((const void *)nothing, 1, 1, NULL, 0, 0));
}

static const char *yes_or_no(cudaError_t error)
{
    return error == cudaErrorNotReady ? "it works"
         : error == cudaSuccess       ? "it is done"
                                      : cudaGetErrorName(error);
}

#define EACH_TWO(a, b, count)                                                                      \
    for (int a = 0; a < (count); a++)                                                              \
        for (int b = 0; b < (count); b++)

// While `busy` works: what a query of each other stream says.
GROUP(waiting_queries, 1)
{
    prepare();
    const struct {
        const char *name;
        cudaStream_t stream;
    } streams[] = { { "legacy", cudaStreamLegacy },
                    { "blocking", plain },
                    { "another blocking", other },
                    { "non-blocking", free_one },
                    { "own", own } };
    enum { COUNT = sizeof streams / sizeof *streams };
    EACH_TWO (b, q, COUNT) {
        char question[80];
        snprintf(question, sizeof question, "query %s, %s works", streams[q].name, streams[b].name);
        work(streams[b].stream);
        tell(question, "%s", yes_or_no(cudaStreamQuery(streams[q].stream)));
    }
    // The same of an event that is recorded on the stream, with nothing before it.
    cudaEvent_t e;
    DO(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    EACH_TWO (b, q, COUNT) {
        char question[80];
        snprintf(question, sizeof question, "event on %s, %s works", streams[q].name,
                 streams[b].name);
        work(streams[b].stream);
        DO(cudaEventRecord(e, streams[q].stream));
        tell(question, "%s", yes_or_no(cudaEventQuery(e)));
    }
    // And of a kernel.
    EACH_TWO (b, q, COUNT) {
        char question[80];
        if (q == b) continue;
        snprintf(question, sizeof question, "kernel on %s, %s works", streams[q].name,
                 streams[b].name);
        work(streams[b].stream);
        DO(launch((const void *)nothing, 1, 1, NULL, 0, streams[q].stream));
        DO(cudaStreamSynchronize(streams[q].stream));
        tell(question, "%s", yes_or_no(cudaStreamQuery(streams[b].stream)));
    }
    // Waiting for a stream that has nothing to do.
    EACH_TWO (b, q, COUNT) {
        char question[80];
        if (q == b) continue;
        snprintf(question, sizeof question, "%s works, waited for %s", streams[b].name,
                 streams[q].name);
        work(streams[b].stream);
        DO(cudaStreamSynchronize(streams[q].stream));
        tell(question, "%s", yes_or_no(cudaStreamQuery(streams[b].stream)));
    }
    // A query of a stream that has done its work, after another has begun.
    EACH_TWO (b, q, COUNT) {
        char question[80];
        if (q == b) continue;
        snprintf(question, sizeof question, "query %s once used, %s works", streams[q].name,
                 streams[b].name);
        DO(launch((const void *)nothing, 1, 1, NULL, 0, streams[q].stream));
        work(streams[b].stream);
        tell(question, "%s", yes_or_no(cudaStreamQuery(streams[q].stream)));
    }
    ask("afterwards", cudaDeviceSynchronize());
}

// Does the call wait for a kernel on this stream?
#define WAITS(question, s, call)                                                                   \
    do {                                                                                           \
        work(s);                                                                                   \
        cudaError_t error = call;                                                                  \
        tell(question, "%s, then %s", cudaGetErrorName(error), yes_or_no(cudaStreamQuery(s)));     \
        cudaGetLastError();                                                                        \
    } while (0)

GROUP(waiting_calls, 1)
{
    void *p, *q;
    cudaStream_t s;
    cudaEvent_t e;
    struct cudaFuncAttributes attributes;
    struct cudaPointerAttributes pointer;
    size_t size, total;
    prepare();
    DO(cudaMalloc(&q, 1 << 20));
    DO(cudaFuncGetAttributes(&attributes, (const void *)nothing));
    WAITS("malloc, non-blocking works", free_one, cudaMalloc(&p, 1 << 20));
    WAITS("free, non-blocking works", free_one, cudaFree(p));
    DO(cudaMalloc(&p, 1 << 20));
    WAITS("free, legacy works", cudaStreamLegacy, cudaFree(p));
    WAITS("free null, non-blocking works", free_one, cudaFree(NULL));
    WAITS("pinned, non-blocking works", free_one, cudaMallocHost(&p, 1 << 20));
    WAITS("free pinned, non-blocking works", free_one, cudaFreeHost(p));
    WAITS("managed, non-blocking works", free_one,
          cudaMallocManaged(&p, 1 << 20, cudaMemAttachGlobal));
    WAITS("free managed, non-blocking works", free_one, cudaFree(p));
    WAITS("malloc from a pool, non-blocking works", free_one, cudaMallocAsync(&p, 1 << 20, plain));
    WAITS("free to a pool, non-blocking works", free_one, cudaFreeAsync(p, plain));
    WAITS("fill, non-blocking works", free_one, cudaMemset(device_memory, 0, 1 << 20));
    WAITS("fill, blocking works", plain, cudaMemset(device_memory, 0, 1 << 20));
    WAITS("fill, legacy works", cudaStreamLegacy, cudaMemset(device_memory, 0, 1 << 20));
    WAITS("fill pinned memory, non-blocking works", free_one, cudaMemset(pinned, 0, 1 << 20));
    WAITS("fill pinned memory, blocking works", plain, cudaMemset(pinned, 0, 1 << 20));
    WAITS("copy a little in, non-blocking works", free_one,
          cudaMemcpy(device_memory, pageable, 16, cudaMemcpyHostToDevice));
    WAITS("copy a little in from pinned, legacy works", cudaStreamLegacy,
          cudaMemcpy(device_memory, pinned, 16, cudaMemcpyHostToDevice));
    WAITS("copy in, blocking works", plain,
          cudaMemcpy(device_memory, pageable, sizeof pageable, cudaMemcpyHostToDevice));
    WAITS("copy a little in, blocking works", plain,
          cudaMemcpy(device_memory, pageable, 16, cudaMemcpyHostToDevice));
    WAITS("copy out, blocking works", plain,
          cudaMemcpy(pageable, device_memory, sizeof pageable, cudaMemcpyDeviceToHost));
    WAITS("copy in from pinned, blocking works", plain,
          cudaMemcpy(device_memory, pinned, 1 << 20, cudaMemcpyHostToDevice));
    WAITS("copy on the device, blocking works", plain,
          cudaMemcpy(device_memory, q, 1 << 20, cudaMemcpyDeviceToDevice));
    WAITS("copy on the device, legacy works", cudaStreamLegacy,
          cudaMemcpy(device_memory, q, 1 << 20, cudaMemcpyDeviceToDevice));
    WAITS("copy between pinned memory, blocking works", plain,
          cudaMemcpy(pinned, pinned + 4096, 4096, cudaMemcpyHostToHost));
    WAITS("copy between the host's, blocking works", plain,
          cudaMemcpy(pageable, pageable + 4096, 4096, cudaMemcpyHostToHost));
    WAITS("copy nothing, blocking works", plain,
          cudaMemcpy(device_memory, pageable, 0, cudaMemcpyHostToDevice));
    WAITS("copy in behind, on that stream", plain,
          cudaMemcpyAsync(device_memory, pageable, sizeof pageable, cudaMemcpyHostToDevice, plain));
    WAITS("copy a little in behind, on that stream", plain,
          cudaMemcpyAsync(device_memory, pageable, 16, cudaMemcpyHostToDevice, plain));
    WAITS("copy out behind, on that stream", plain,
          cudaMemcpyAsync(pageable, device_memory, sizeof pageable, cudaMemcpyDeviceToHost, plain));
    WAITS("copy in from pinned behind, on that stream", plain,
          cudaMemcpyAsync(device_memory, pinned, 1 << 20, cudaMemcpyHostToDevice, plain));
    WAITS("copy out to pinned behind, on that stream", plain,
          cudaMemcpyAsync(pinned, device_memory, 1 << 20, cudaMemcpyDeviceToHost, plain));
    WAITS("copy between pinned memory behind, on that stream", plain,
          cudaMemcpyAsync(pinned, pinned + 4096, 4096, cudaMemcpyHostToHost, plain));
    WAITS("copy between the host's behind, on that stream", plain,
          cudaMemcpyAsync(pageable, pageable + 4096, 4096, cudaMemcpyHostToHost, plain));
    WAITS("to a variable, blocking works", plain,
          cudaMemcpyToSymbol(variable, pageable, 16, 0, cudaMemcpyHostToDevice));
    WAITS("from a variable, non-blocking works", free_one,
          cudaMemcpyFromSymbol(pageable, variable, 16, 0, cudaMemcpyDeviceToHost));
    WAITS("to a peer, blocking works", plain, cudaMemcpyPeer(device_memory, 0, q, 0, 1 << 20));
    WAITS("to a peer asynchronously, blocking works", plain,
          cudaMemcpyPeerAsync(device_memory, 0, q, 0, 1 << 20, other));
    WAITS("2D, blocking works", plain,
          cudaMemcpy2D(device_memory, 64, q, 64, 32, 16, cudaMemcpyDeviceToDevice));
    WAITS("2D out, blocking works", plain,
          cudaMemcpy2D(pageable, 64, q, 64, 32, 16, cudaMemcpyDeviceToHost));
    WAITS("create a stream", free_one, cudaStreamCreate(&s));
    WAITS("destroy a stream", free_one, cudaStreamDestroy(s));
    WAITS("create an event", free_one, cudaEventCreate(&e));
    WAITS("record on the legacy stream, blocking works", plain,
          cudaEventRecord(e, cudaStreamLegacy));
    WAITS("destroy an event", free_one, cudaEventDestroy(e));
    WAITS("kernel's attributes", free_one,
          cudaFuncGetAttributes(&attributes, (const void *)nothing));
    WAITS("set a kernel's attribute", free_one,
          cudaFuncSetAttribute((const void *)dynamic_shared,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    WAITS("of a pointer", free_one, cudaPointerGetAttributes(&pointer, q));
    WAITS("symbol's address", free_one, cudaGetSymbolAddress(&p, variable));
    WAITS("how much is free", free_one, cudaMemGetInfo(&size, &total));
    WAITS("set the stack", free_one, cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    WAITS("set the heap", free_one, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    WAITS("set what printf may write", free_one,
          cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    WAITS("register", free_one, cudaHostRegister(pageable, 4096, 0));
    WAITS("unregister", free_one, cudaHostUnregister(pageable));
    WAITS("set the device", free_one, cudaSetDevice(0));
    WAITS("kernel on the legacy stream, non-blocking works", free_one,
          launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("afterwards", cudaDeviceSynchronize());
}

// ---- Threads

static void *in_thread(void *unused)
{
    (void)unused;
    ask("another thread, query its own, while the first's works",
        cudaStreamQuery(cudaStreamPerThread));
    unsigned long long id = 0;
    DO(cudaStreamGetId(cudaStreamPerThread, &id));
    ask("another thread, kernel on its own",
        launch((const void *)nothing, 1, 1, NULL, 0, cudaStreamPerThread));
    ask("another thread, wait for its own", cudaStreamSynchronize(cudaStreamPerThread));
    return NULL;
}

GROUP(waiting_threads, 1)
{
    pthread_t thread;
    prepare();
    work(cudaStreamPerThread);
    if (!pthread_create(&thread, NULL, in_thread, NULL)) pthread_join(thread, NULL);
    tell("the first's then", "%s", yes_or_no(cudaStreamQuery(cudaStreamPerThread)));
    unsigned long long legacy = 77, null = 77, mine = 77, mine_again = 77;
    DO(cudaStreamGetId(cudaStreamLegacy, &legacy));
    DO(cudaStreamGetId(NULL, &null));
    DO(cudaStreamGetId(cudaStreamPerThread, &mine));
    DO(cudaStreamGetId(cudaStreamPerThread, &mine_again));
    tell("ids", "null %s, own %s, again %s", null == legacy ? "the same" : "another",
         mine == legacy ? "the same" : "another", mine == mine_again ? "the same" : "another");
    unsigned flags = 99;
    int priority = 99, device = 99;
    ask("flags of the own", cudaStreamGetFlags(cudaStreamPerThread, &flags));
    tell("flags of the own", "%u", flags);
    ask("priority of the own", cudaStreamGetPriority(cudaStreamPerThread, &priority));
    tell("priority of the own", "%d", priority);
    ask("device of the own", cudaStreamGetDevice(cudaStreamPerThread, &device));
    ask("reset", cudaDeviceReset());
    ask("own stream after that", launch((const void *)nothing, 1, 1, NULL, 0, cudaStreamPerThread));
    ask("afterwards", cudaDeviceSynchronize());
}
