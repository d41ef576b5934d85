// Host functions run one after another on a thread of their own, as soon as the work before them in
// the stream is done. A request that must follow a host function waits in its calling thread until
// the function has returned.

#include "host.h"
#include "operation.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Waiting {
    struct Waiting *next;
    HostOperation what;
    uint64_t stream;
} Waiting;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    Waiting *first; // the function that runs now, and those queued after it
    bool started;
} queue = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static __thread bool inside;

bool host_is_inside(void) { return inside; }

static void call(const Waiting *waiting)
{
    const HostOperation *what = &waiting->what;
    if (what->callback) what->callback(what->stream, cudaSuccess, what->data);
    else what->function(what->data);
}

static void *run_all(void *unused)
{
    (void)unused;
    inside = true;
    pthread_mutex_lock(&queue.mutex);
    for (;;) {
        Waiting *first = queue.first;
        if (!first) {
            pthread_cond_wait(&queue.changed, &queue.mutex);
            continue;
        }
        pthread_mutex_unlock(&queue.mutex);
        call(first);
        pthread_mutex_lock(&queue.mutex);
        queue.first = first->next;
        free(first);
        pthread_cond_broadcast(&queue.changed);
    }
    return NULL;
}

static void wait_before(const WireRequest *request);
static int sleeps(void);

static bool start(void)
{
    static ClientHooks hooks = { .forbids = host_is_inside,
                                 .before = wait_before,
                                 .sleeps = sleeps };
    pthread_t thread;
    if (!queue.started && pthread_create(&thread, NULL, run_all, NULL) == 0) {
        pthread_detach(thread);
        client_hook(&hooks);
        queue.started = true;
    }
    return queue.started;
}

static bool append(const HostOperation *what, uint64_t stream)
{
    Waiting *waiting = malloc(sizeof *waiting);
    pthread_mutex_lock(&queue.mutex);
    bool good = waiting && start();
    if (good) {
        *waiting = (Waiting){ NULL, *what, stream };
        Waiting **end = &queue.first;
        while (*end) end = &(*end)->next;
        *end = waiting;
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.mutex);
    if (!good) free(waiting);
    return good;
}

void host_call_later(cudaHostFn_t function, void *data)
{
    HostOperation what = { .function = function, .data = data };
    append(&what, UINT64_MAX); // no stream
}

// ---- Waiting for host functions ----

// Is work on one stream ordered with work on the other? A legacy default stream counts as ordered
// with every other stream, even with one created with cudaStreamNonBlocking, because the client
// does not keep the flags of streams.
static bool are_ordered(uint64_t one, uint64_t other)
{
    return one == other || one < WIRE_DEVICES || other < WIRE_DEVICES;
}

static bool is_before(uint64_t stream, bool all)
{
    for (const Waiting *at = queue.first; at; at = at->next)
        if (all || are_ordered(at->stream, stream)) return true;
    return false;
}

static void wait_for(uint64_t stream, bool all)
{
    pthread_mutex_lock(&queue.mutex);
    while (is_before(stream, all)) pthread_cond_wait(&queue.changed, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
}

// Waits until the host functions that must precede the request have returned.
static void wait_before(const WireRequest *request)
{
    if (inside || !__atomic_load_n(&queue.first, __ATOMIC_ACQUIRE)) return;
    switch (wire_row(request->op)->after_host) {
    case WIRE_HOST_NONE: break;
    case WIRE_HOST_STREAM: wait_for(request->stream, false); break;
    case WIRE_HOST_ALL: wait_for(0, true); break;
    }
}

static int sleeps(void)
{
    pthread_mutex_lock(&queue.mutex);
    int idle = !queue.first;
    pthread_mutex_unlock(&queue.mutex);
    return idle;
}

bool host_is_busy(uint64_t stream)
{
    pthread_mutex_lock(&queue.mutex);
    bool busy = is_before(stream, false);
    pthread_mutex_unlock(&queue.mutex);
    return busy;
}

// ---- Issuing host functions ----

cudaError_t operation_run_host(const Operation *operation, uint64_t stream)
{
    WireRequest request = operation_request(operation, WIRE_HOST_FUNCTION);
    request.stream = stream;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error) return error;
    return append(&operation->host, stream) ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    if (!function)
        return client_done(client_refuse("cudaLaunchHostFunc", cudaErrorInvalidValue,
                                         "There is nothing to call.", "Give it a function.",
                                         "was given a null pointer as its function"));
    Operation operation = { .kind = OPERATION_HOST,
                            .call = "cudaLaunchHostFunc",
                            .host = { .function = function, .data = data } };
    return client_done(operation_issue(&operation, stream));
}
TWIN(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz,
     (cudaStream_t stream, cudaHostFn_t function, void *data), (stream, function, data))

EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *data, unsigned flags)
{
    if (!callback || flags) return client_done(cudaErrorInvalidValue);
    Operation operation = { .kind = OPERATION_HOST,
                            .call = "cudaStreamAddCallback",
                            .host = { .callback = callback, .data = data, .stream = stream } };
    return client_done(operation_issue(&operation, stream));
}
TWIN(cudaStreamAddCallback, cudaStreamAddCallback_ptsz,
     (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
     (stream, callback, data, flags))
