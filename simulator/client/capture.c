// Stream captures. A capture keeps tips for each of its streams: the nodes on which the next
// operation of the stream will depend. An event that is recorded on a captured stream takes a copy
// of the tips, and a stream that waits for the event adds them to its own tips.

#include "capture.h"
#include "capture_member.h"
#include "capture_words.h"
#include "graph.h"
#include "graph_memory.h"
#include "graph_node.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Capture {
    struct Capture *next;
    unsigned long long number;
    Graph *graph;
    Member *streams, *events;
    Member *destroyed; // captured streams that the program has destroyed
    uint64_t origin;
    bool non_blocking; // the origin stream was created with cudaStreamNonBlocking
    bool into_given;   // the program gave the graph (cudaStreamBeginCaptureToGraph)
    bool invalidated;
    enum cudaStreamCaptureMode mode;
    pthread_t thread;
    ClientSite began, lost; // the calls that began it, and that invalidated it
} Capture;

static Capture *captures;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long long begun;
static __thread enum cudaStreamCaptureMode thread_mode; // 0: cudaStreamCaptureModeGlobal

static bool is_any(void) { return __atomic_load_n(&captures, __ATOMIC_ACQUIRE) != NULL; }

static Member *ended_events; // events whose latest record is part of a capture that has ended

static Capture *capture_of(uint64_t stream, Member **in)
{
    for (Capture *c = captures; c; c = c->next)
        if ((*in = member_find(c->streams, stream))) return c;
    return NULL;
}

static Capture *capture_of_event(cudaEvent_t event, Member **in)
{
    for (Capture *c = captures; c; c = c->next)
        if ((*in = member_find(c->events, client_address(event)))) return c;
    return NULL;
}

static __thread const char *calling; // the call that is being made
static __thread ClientSite blamed;   // for its error: the call that began or ended a capture

static cudaError_t blame(const Capture *capture, cudaError_t error)
{
    if (error) blamed = error == cudaErrorStreamCaptureInvalidated ? capture->lost : capture->began;
    return error;
}

static cudaError_t invalidate(Capture *capture, cudaError_t error)
{
    if (!capture->invalidated) capture_site(&capture->lost, calling);
    capture->invalidated = true;
    return blame(capture, error);
}

static cudaError_t is_lost(const Capture *capture)
{
    return blame(capture, cudaErrorStreamCaptureInvalidated);
}

static cudaError_t explain(cudaError_t error) { return capture_explain(calling, error, &blamed); }

// ---- Adding operations to the graph ----

// Work on a legacy default stream (an id below WIRE_DEVICES) would wait for every blocking stream,
// so it invalidates the captures whose origin is a blocking stream.
static cudaError_t check_default_stream(uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    for (Capture *c = captures; c && stream < WIRE_DEVICES; c = c->next)
        if (!c->non_blocking) error = invalidate(c, cudaErrorStreamCaptureImplicit);
    return error;
}

static bool waits(const Operation *operation)
{
    return (operation->kind == OPERATION_COPY && operation->copy.blocks)
        || (operation->kind == OPERATION_FILL && operation->fill.blocks);
}

static cudaError_t check_kernel(const Operation *operation)
{
    if (operation->kind != OPERATION_KERNEL) return cudaSuccess;
    Operation checked = *operation;
    checked.kernel.only_checked = true;
    return operation_run(&checked, 0);
}

static cudaError_t take(Capture *capture, Member *stream, const Operation *operation)
{
    if (capture->invalidated) return is_lost(capture);
    if (waits(operation)) return invalidate(capture, cudaErrorStreamCaptureUnsupported);
    bool calls_back = operation->kind == OPERATION_HOST && operation->host.callback;
    cudaError_t error = calls_back ? cudaErrorStreamCaptureUnsupported : check_kernel(operation);
    if (error) return invalidate(capture, error);
    error = graph_memory_check(capture->graph, operation);
    if (error) // the capture stays valid, as on an H200
        return error;
    Node *node = graph_add(capture->graph, stream->tips.nodes, stream->tips.count, operation);
    stream->tips.count = 0;
    return node && tips_add(&stream->tips, node) ? cudaSuccess : cudaErrorMemoryAllocation;
}

bool capture_takes(const Operation *operation, uint64_t stream, cudaError_t *error)
{
    if (!is_any()) return false;
    Member *in;
    calling = operation->call;
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(stream, &in);
    *error = capture ? take(capture, in, operation) : check_default_stream(stream);
    pthread_mutex_unlock(&mutex);
    capture_explain_operation(calling, *error, waits(operation), &blamed);
    return capture || *error;
}

bool capture_record(const char *call, cudaEvent_t event, uint64_t stream, cudaError_t *error)
{
    if (!is_any() && !__atomic_load_n(&ended_events, __ATOMIC_ACQUIRE)) return false;
    Member *in, *old;
    calling = call;
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(stream, &in), *before = capture_of_event(event, &old);
    if (before || (old = member_find(ended_events, client_address(event))))
        old->id = 0; // no longer the event's latest record
    if (capture) {
        Member *new = member_add(&capture->events, client_address(event));
        if (new) new->tips.count = 0;
        *error = capture->invalidated                   ? is_lost(capture)
               : new &&tips_join(&new->tips, &in->tips) ? cudaSuccess
                                                        : cudaErrorMemoryAllocation;
    } else {
        *error = check_default_stream(stream);
    }
    pthread_mutex_unlock(&mutex);
    explain(*error);
    return capture || *error;
}

static cudaError_t join(Capture *capture, const Member *event, Capture *other, uint64_t stream)
{
    if (other && other != capture) {
        invalidate(capture, cudaSuccess);
        return invalidate(other, cudaErrorStreamCaptureMerge);
    }
    if (capture->invalidated) return is_lost(capture);
    if (stream < WIRE_DEVICES) return invalidate(capture, cudaErrorStreamCaptureImplicit);
    Member *in = member_add(&capture->streams, stream);
    return in && tips_join(&in->tips, &event->tips) ? cudaSuccess : cudaErrorMemoryAllocation;
}

bool capture_wait(const char *call, cudaEvent_t event, uint64_t stream, cudaError_t *error)
{
    if (!is_any()) return false;
    Member *in, *of;
    calling = call;
    pthread_mutex_lock(&mutex);
    Capture *captured = capture_of(stream, &in), *from = capture_of_event(event, &of);
    if (from) *error = join(from, of, captured, stream);
    else if (captured) *error = invalidate(captured, cudaErrorStreamCaptureIsolation);
    else *error = check_default_stream(stream);
    pthread_mutex_unlock(&mutex);
    explain(*error);
    return from || *error;
}

cudaError_t capture_forbids_event(const char *call, cudaEvent_t event)
{
    cudaError_t error = cudaSuccess;
    if (!is_any()) return error;
    Member *of;
    calling = call;
    pthread_mutex_lock(&mutex);
    const Capture *capture = capture_of_event(event, &of);
    if (capture) error = blame(capture, cudaErrorCapturedEvent);
    pthread_mutex_unlock(&mutex);
    return explain(error);
}

bool capture_had_event(cudaEvent_t event)
{
    pthread_mutex_lock(&mutex);
    bool had = ended_events && member_find(ended_events, client_address(event));
    pthread_mutex_unlock(&mutex);
    return had;
}

void capture_forget_event(cudaEvent_t event)
{
    pthread_mutex_lock(&mutex);
    Member *had;
    if (capture_of_event(event, &had) || (had = member_find(ended_events, client_address(event))))
        had->id = 0; // a later event may get the same id
    pthread_mutex_unlock(&mutex);
}

// ---- Calls that a capture prohibits ----

static cudaError_t forbid_waiting(const char *call, uint64_t stream)
{
    Member *in;
    calling = call;
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(stream, &in);
    cudaError_t error = capture ? invalidate(capture, cudaErrorStreamCaptureUnsupported)
                                : check_default_stream(stream);
    pthread_mutex_unlock(&mutex);
    return error;
}

cudaError_t capture_forbids_waiting(const char *call, uint64_t stream)
{
    return is_any() ? capture_explain_waiting(call, forbid_waiting(call, stream), &blamed)
                    : cudaSuccess;
}

cudaError_t capture_fails(const char *call, uint64_t stream, cudaError_t error)
{
    Member *in;
    calling = call;
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(stream, &in);
    if (capture) invalidate(capture, error);
    pthread_mutex_unlock(&mutex);
    return error;
}

static bool prohibits_calls(const Capture *capture)
{
    bool own = pthread_equal(capture->thread, pthread_self()) != 0;
    if (thread_mode == cudaStreamCaptureModeRelaxed
        || capture->mode == cudaStreamCaptureModeRelaxed)
        return false;
    return own
        || (thread_mode == cudaStreamCaptureModeGlobal
            && capture->mode == cudaStreamCaptureModeGlobal);
}

static cudaError_t forbid(const char *call, bool all)
{
    cudaError_t error = cudaSuccess;
    calling = call;
    pthread_mutex_lock(&mutex);
    for (Capture *c = captures; c; c = c->next)
        if (all || prohibits_calls(c)) error = invalidate(c, cudaErrorStreamCaptureUnsupported);
    pthread_mutex_unlock(&mutex);
    return error;
}

cudaError_t capture_forbids(const char *call)
{
    return is_any() ? capture_explain(call, forbid(call, false), &blamed) : cudaSuccess;
}

cudaError_t capture_forbids_asking(const char *call, uint64_t stream)
{
    cudaError_t error = capture_forbids_waiting(call, stream);
    return error ? error : capture_forbids(call);
}

cudaError_t capture_ends_by(const char *call, uint64_t stream)
{
    cudaError_t error = is_any() ? forbid_waiting(call, stream) : cudaSuccess;
    return error || !is_any() ? error : forbid(call, false);
}

cudaError_t capture_ends_by_all(const char *call)
{
    return is_any() ? forbid(call, true) : cudaSuccess;
}

EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode) return client_done(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return cudaSuccess;
}

// ---- Beginning and ending ----

static cudaError_t is_non_blocking(const char *call, uint64_t stream, bool *non_blocking)
{
    WireRequest request = client_request(WIRE_STREAM_FACTS, call);
    request.stream = stream;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    *non_blocking = !error && reply.stream.flags;
    return error;
}

static cudaError_t begin(const char *call, uint64_t stream, enum cudaStreamCaptureMode mode,
                         Graph *graph, const cudaGraphNode_t *needs, size_t count)
{
    bool non_blocking;
    cudaError_t error = is_non_blocking(call, stream, &non_blocking);
    if (error) return error;
    if (stream < WIRE_DEVICES)
        return client_misuse(
            call, cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured",
            "It waits for all other streams, and they for it.",
            "Capture a stream that cudaStreamCreate made, and issue the work to that one.");
    Capture *capture = calloc(1, sizeof *capture);
    Member *in = capture ? member_add(&capture->streams, stream) : NULL;
    Graph *into = !in ? NULL : graph ? graph : graph_make();
    if (!into) {
        free(in);
        free(capture);
        return cudaErrorMemoryAllocation;
    }
    capture->graph = into;
    capture->into_given = graph != NULL;
    capture->origin = stream;
    capture->non_blocking = non_blocking;
    capture->mode = mode;
    capture->thread = pthread_self();
    capture_site(&capture->began, call);
    for (size_t i = 0; i < count; i++) tips_add(&in->tips, (Node *)needs[i]);
    pthread_mutex_lock(&mutex);
    capture->number = ++begun;
    capture->next = captures;
    __atomic_store_n(&captures, capture, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

bool capture_has_stream(uint64_t stream)
{
    Member *in;
    pthread_mutex_lock(&mutex);
    bool captured = capture_of(stream, &in) != NULL;
    pthread_mutex_unlock(&mutex);
    return captured;
}

static cudaError_t check_free(const char *call, uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    Member *in;
    calling = call;
    pthread_mutex_lock(&mutex);
    const Capture *capture = capture_of(stream, &in);
    if (capture) error = blame(capture, cudaErrorIllegalState);
    pthread_mutex_unlock(&mutex);
    return explain(error);
}

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    uint64_t id = client_stream(stream);
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return client_done(cudaErrorInvalidValue);
    cudaError_t error = check_free("cudaStreamBeginCapture", id);
    if (!error) error = begin("cudaStreamBeginCapture", id, mode, NULL, NULL, 0);
    return client_done(error);
}
TWIN(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz,
     (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))

EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t *needs,
                                                 const cudaGraphEdgeData *edges, size_t count,
                                                 enum cudaStreamCaptureMode mode)
{
    (void)edges;
    uint64_t id = client_stream(stream);
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed || !graph_given(__func__, graph)
        || !node_are_of((Graph *)graph, needs, count))
        return client_done(cudaErrorInvalidValue);
    static const char call[] = "cudaStreamBeginCaptureToGraph";
    cudaError_t error = check_free(call, id);
    if (!error) error = begin(call, id, mode, (Graph *)graph, needs, count);
    return client_done(error);
}
TWIN(cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz,
     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *needs,
      const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
     (stream, graph, needs, edges, count, mode))

// Marks the node, and all nodes on which it depends, in their ->place.
static void mark(Node *node)
{
    if (node->place) return;
    node->place = 1;
    for (size_t i = 0; i < node->need_count; i++) mark(node->needs[i]);
}

static bool are_marked(const Member *in)
{
    for (; in; in = in->next)
        for (size_t i = 0; i < in->tips.count; i++)
            if (!in->tips.nodes[i]->place) return false;
    return true;
}

// Has every stream been joined to the origin stream: do the origin's tips depend on the other
// streams' tips?
static bool is_joined(const Capture *capture)
{
    for (Node *node = capture->graph->first; node; node = node->next) node->place = 0;
    const Member *origin = member_find(capture->streams, capture->origin);
    for (size_t i = 0; i < origin->tips.count; i++) mark(origin->tips.nodes[i]);
    return are_marked(capture->streams) && are_marked(capture->destroyed);
}

static void take_out(Capture *capture)
{
    Capture **at = &captures;
    while (*at != capture) at = &(*at)->next;
    __atomic_store_n(at, capture->next, __ATOMIC_RELEASE);
}

// Frees a capture that has ended, but not its graph. Its events stay known, because nothing can
// wait for them before they are recorded again. The caller holds the mutex.
static void drop(Capture *capture)
{
    members_free(capture->streams);
    members_free(capture->destroyed);
    Member **end = &ended_events;
    while (*end) end = &(*end)->next;
    *end = capture->events;
    free(capture);
}

// The program has destroyed a captured stream. Its nodes stay in the graph and must still be joined
// to the origin; its id may be given to a later stream.
static void leave(Capture *capture, Member *stream)
{
    Member **at = &capture->streams;
    while (*at != stream) at = &(*at)->next;
    *at = stream->next;
    stream->next = capture->destroyed;
    capture->destroyed = stream;
}

void capture_forget(uint64_t stream)
{
    Member *in;
    pthread_mutex_lock(&mutex);
    Capture *capture = is_any() ? capture_of(stream, &in) : NULL;
    if (capture && stream != capture->origin) {
        leave(capture, in);
    } else if (capture) {
        take_out(capture);
        if (!capture->into_given) graph_free(capture->graph);
        drop(capture);
    }
    pthread_mutex_unlock(&mutex);
}

static cudaError_t end(Capture *capture, uint64_t stream)
{
    if (stream != capture->origin) return invalidate(capture, cudaErrorStreamCaptureUnmatched);
    bool elsewhere = !capture->invalidated && capture->mode != cudaStreamCaptureModeRelaxed
                  && !pthread_equal(capture->thread, pthread_self());
    take_out(capture);
    if (elsewhere) return blame(capture, cudaErrorStreamCaptureWrongThread);
    if (capture->invalidated) return is_lost(capture);
    return is_joined(capture) ? cudaSuccess : blame(capture, cudaErrorStreamCaptureUnjoined);
}

static bool has_ended(const Capture *capture)
{
    const Capture *at = captures;
    while (at && at != capture) at = at->next;
    return !at;
}

EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    uint64_t id = client_stream(stream);
    Member *in;
    cudaGraph_t discarded;
    if (!graph) graph = &discarded;
    *graph = NULL;
    calling = "cudaStreamEndCapture";
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(id, &in);
    cudaError_t error = capture ? end(capture, id) : cudaErrorIllegalState;
    bool ended = capture && has_ended(capture);
    pthread_mutex_unlock(&mutex);
    if (!capture)
        client_misuse("cudaStreamEndCapture", error,
                      "cudaStreamEndCapture: this stream is not being captured",
                      "What was issued to it has been done, and not written down.",
                      "Call cudaStreamBeginCapture first, on the same stream.");
    else explain(error);
    if (!ended) return client_done(error);
    if (!error) *graph = (cudaGraph_t)capture->graph;
    if ((error || graph == &discarded) && !capture->into_given) graph_free(capture->graph);
    pthread_mutex_lock(&mutex);
    drop(capture);
    pthread_mutex_unlock(&mutex);
    return client_done(error);
}
TWIN(cudaStreamEndCapture, cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *graph),
     (stream, graph))

// ---- Queries ----

static cudaError_t status_of(uint64_t stream, enum cudaStreamCaptureStatus *status, Capture **of,
                             Member **in)
{
    *of = capture_of(stream, in);
    for (const Capture *c = captures; c && stream < WIRE_DEVICES; c = c->next)
        if (!c->non_blocking) return cudaErrorStreamCaptureImplicit;
    *status = !*of               ? cudaStreamCaptureStatusNone
            : (*of)->invalidated ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    Capture *of;
    Member *in;
    cudaError_t error = client_open();
    if (!error) error = client_sticky();
    if (error || !status) return client_done(error ? error : cudaErrorInvalidValue);
    uint64_t id = client_stream(stream);
    pthread_mutex_lock(&mutex);
    error = status_of(id, status, &of, &in);
    pthread_mutex_unlock(&mutex);
    return client_done(error);
}
TWIN(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status))

EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *status,
                                            unsigned long long *number, cudaGraph_t *graph,
                                            const cudaGraphNode_t **needs,
                                            const cudaGraphEdgeData **edges, size_t *count)
{
    Capture *of;
    Member *in;
    cudaError_t error = client_open();
    if (error || !status) return client_done(error ? error : cudaErrorInvalidValue);
    uint64_t id = client_stream(stream);
    pthread_mutex_lock(&mutex);
    error = status_of(id, status, &of, &in);
    bool active = of && !of->invalidated;
    if (number && active) *number = of->number;
    if (graph && active) *graph = (cudaGraph_t)of->graph;
    if (needs && active) *needs = (const cudaGraphNode_t *)in->tips.nodes;
    if (edges && active) *edges = NULL; // NULL: all edges are ordinary dependencies
    if (count && active) *count = in->tips.count;
    pthread_mutex_unlock(&mutex);
    return client_done(error);
}
TWIN(cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *number,
      cudaGraph_t *graph, const cudaGraphNode_t **needs, const cudaGraphEdgeData **edges,
      size_t *count),
     (stream, status, number, graph, needs, edges, count))

EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                       const cudaGraphEdgeData *edges, size_t count,
                                                       unsigned flags)
{
    (void)edges;
    Member *in;
    uint64_t id = client_stream(stream);
    pthread_mutex_lock(&mutex);
    Capture *capture = capture_of(id, &in);
    cudaError_t error = !capture ? cudaErrorIllegalState
                      : flags > cudaStreamSetCaptureDependencies || (count && !nodes)
                          ? cudaErrorInvalidValue
                      : capture->invalidated ? cudaErrorStreamCaptureInvalidated
                                             : cudaSuccess;
    for (size_t i = 0; i < count && !error; i++)
        if (!nodes[i] || ((Node *)nodes[i])->graph != capture->graph) error = cudaErrorInvalidValue;
    if (!error && flags == cudaStreamSetCaptureDependencies) in->tips.count = 0;
    for (size_t i = 0; i < count && !error; i++)
        if (!tips_add(&in->tips, (Node *)nodes[i])) error = cudaErrorMemoryAllocation;
    pthread_mutex_unlock(&mutex);
    return client_done(error);
}
TWIN(cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz,
     (cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t count,
      unsigned flags),
     (stream, nodes, edges, count, flags))
