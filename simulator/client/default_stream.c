// Which stream a handle means: stream 0 is the device's legacy default stream or the thread's own
// default stream. Also requests about streams that several files need.

#include "client.h"
#include <pthread.h>
#include <cuda_runtime_api.h>

__thread int client_per_thread;

// ---- Per-thread default streams: one on each device, created when it is first used ----

static __thread struct {
    uint64_t id[WIRE_DEVICES];
    uint32_t resets[WIRE_DEVICES]; // the device's number of resets when the stream was created
} own;
static uint32_t resets[WIRE_DEVICES];
static pthread_key_t ends_with_thread;

void client_streams_reset(uint32_t device)
{
    __atomic_add_fetch(&resets[device], 1, __ATOMIC_RELAXED);
}

static void destroy_own(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < WIRE_DEVICES; i++) {
        WireRequest request = client_request(WIRE_STREAM_DESTROY, "the end of a thread");
        WireReply reply;
        request.object.id = own.id[i];
        if (own.id[i] && own.resets[i] == resets[i]) client_simple(&request, &reply);
    }
}

static void make_key(void) { pthread_key_create(&ends_with_thread, destroy_own); }

static uint64_t own_stream(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint32_t device = client_device();
    if (own.id[device] && own.resets[device] == resets[device]) return own.id[device];
    WireRequest request = client_request(WIRE_STREAM_CREATE, "cudaStreamPerThread");
    WireReply reply;
    if (client_simple(&request, &reply)) return 0;
    own.id[device] = reply.id;
    own.resets[device] = resets[device];
    pthread_once(&once, make_key);
    pthread_setspecific(ends_with_thread, &own);
    return reply.id;
}

uint64_t client_stream(cudaStream_t stream)
{
    if (stream == cudaStreamPerThread || (!stream && client_per_thread)) return own_stream();
    return stream == cudaStreamLegacy ? 0 : (uintptr_t)stream;
}

int client_priority(int wanted)
{
    return wanted < CLIENT_GREATEST_PRIORITY ? CLIENT_GREATEST_PRIORITY : wanted > 0 ? 0 : wanted;
}

cudaError_t client_stream_facts(const char *call, uint64_t stream, WireReply *reply)
{
    WireRequest request = client_request(WIRE_STREAM_FACTS, call);
    request.stream = stream;
    return client_simple(&request, reply);
}

cudaError_t client_stream_settle(const char *call, uint64_t stream)
{
    WireRequest request = client_request(WIRE_SETTLE, call);
    WireReply reply;
    request.stream = stream;
    return client_simple(&request, &reply);
}
