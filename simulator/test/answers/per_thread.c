// A program compiled with --default-stream per-thread: stream 0 of its calls is the thread's own.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "ask.h"

static cudaStream_t plain, free_one;

static void work(cudaStream_t s)
{
    int milliseconds = 20;
    void *arguments[] = { &milliseconds };
    DO(cudaDeviceSynchronize());
    DO(launch((const void *)last_for, 1, 1, arguments, 0, s));
}

static const char *state(cudaStream_t s)
{
    cudaError_t error = cudaStreamQuery(s);
    return error == cudaErrorNotReady ? "works"
         : error == cudaSuccess       ? "done"
                                      : cudaGetErrorName(error);
}

#define THEN(question, s, call)                                                                    \
    do {                                                                                           \
        work(s);                                                                                   \
        cudaError_t error = call;                                                                  \
        tell(question, "%s, then %s", cudaGetErrorName(error), state(s));                          \
        cudaGetLastError();                                                                        \
    } while (0)

GROUP(per_thread, 1)
{
    char *d, *pinned, host[256];
    cudaGraph_t g;
    unsigned long long null = 0, own = 0, legacy = 0;
    DO(cudaStreamCreate(&plain));
    DO(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    DO(cudaMalloc((void **)&d, 1 << 20));
    DO(cudaMallocHost((void **)&pinned, 1 << 20));
    DO(launch((const void *)nothing, 1, 1, NULL, 0, 0));
    DO(cudaStreamGetId(NULL, &null));
    DO(cudaStreamGetId(cudaStreamPerThread, &own));
    DO(cudaStreamGetId(cudaStreamLegacy, &legacy));
    tell("null is", "%s",
         null == own      ? "the thread's"
         : null == legacy ? "the legacy stream"
                          : "neither");
    work(plain);
    tell("query null, blocking works", "%s", state(NULL));
    work(cudaStreamLegacy);
    tell("query null, legacy works", "%s", state(NULL));
    work(NULL);
    tell("query legacy, null works", "%s", state(cudaStreamLegacy));
    THEN("kernel on null, blocking works", plain,
         (launch((const void *)nothing, 1, 1, NULL, 0, 0), cudaStreamSynchronize(0)));
    THEN("kernel on null, legacy works", cudaStreamLegacy,
         (launch((const void *)nothing, 1, 1, NULL, 0, 0), cudaStreamSynchronize(0)));
    THEN("kernel on legacy, null works", NULL,
         (launch((const void *)nothing, 1, 1, NULL, 0, cudaStreamLegacy),
          cudaStreamSynchronize(cudaStreamLegacy)));
    THEN("copy in, blocking works", plain,
         cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    THEN("copy out, legacy works", cudaStreamLegacy,
         cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    THEN("copy on the device, null works", NULL,
         cudaMemcpy(d, d + 4096, 4096, cudaMemcpyDeviceToDevice));
    THEN("copy on the device, blocking works", plain,
         cudaMemcpy(d, d + 4096, 4096, cudaMemcpyDeviceToDevice));
    THEN("fill, blocking works", plain, cudaMemset(d, 0, 4096));
    THEN("fill, null works", NULL, cudaMemset(d, 0, 4096));
    THEN("to a variable, blocking works", plain,
         cudaMemcpyToSymbol(variable, host, 16, 0, cudaMemcpyHostToDevice));
    THEN("from pinned, null works", NULL,
         cudaMemcpyAsync(d, pinned, 1 << 20, cudaMemcpyHostToDevice, 0));
    THEN("to a peer, blocking works", plain, cudaMemcpyPeer(d, 0, d + 4096, 0, 4096));
    THEN("malloc from a pool, blocking works", plain, cudaMallocAsync((void **)&d, 4096, 0));
    ask("capture null", cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    ask("kernel in it", launch((const void *)nothing, 1, 1, NULL, 0, 0));
    ask("end", cudaStreamEndCapture(NULL, &g));
    ask("destroy null", cudaStreamDestroy(NULL));
    ask("afterwards", cudaDeviceSynchronize());
}
