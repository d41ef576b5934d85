// The calls for executable graphs: instantiating, launching and updating them.

#include "capture.h"
#include "exec.h"
#include "graph_condition.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static Exec *execs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_known(const Exec *exec)
{
    pthread_mutex_lock(&mutex);
    const Exec *at = execs;
    while (at && at != exec) at = at->next;
    pthread_mutex_unlock(&mutex);
    return at != NULL;
}

static bool given(const char *call, Exec *exec)
{
    bool known = is_known(exec);
    if (!known) client_was_destroyed(call, WIRE_HANDLE_EXEC, exec, false);
    return known;
}

Node *exec_node(const char *call, Exec *exec, const Node *original)
{
    Node *node = given(call, exec) && original ? exec->graph->first : NULL;
    while (node && node->original != original) node = node->next;
    return node;
}

// ---- Instantiating and destroying ----

static void free_exec(Exec *exec)
{
    exec_drop_plan(exec);
    if (exec->graph) graph_free(exec->graph);
    free(exec);
}

// Is there an executable graph that was instantiated from this graph?
static bool is_executable(const Graph *graph)
{
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (const Exec *exec = execs; exec && !found; exec = exec->next)
        for (const Node *node = exec->graph->first; node && !found; node = node->next)
            found = node->original->graph == graph;
    pthread_mutex_unlock(&mutex);
    return found;
}

static cudaError_t instantiate(cudaGraphExec_t *out, const Graph *graph, unsigned long long flags)
{
    cudaError_t error = client_open();
    if (!error) error = capture_forbids("cudaGraphInstantiate");
    if (!error && out && !graph_known(graph))
        return client_was_destroyed("cudaGraphInstantiate", WIRE_HANDLE_GRAPH, graph, true)
                 ? cudaErrorInvalidValue
                 : client_misuse("cudaGraphInstantiate", cudaErrorInvalidValue,
                                 "cudaGraphInstantiate: this is no graph",
                                 "It was never made, or has been destroyed.",
                                 "Instantiate what cudaStreamEndCapture gave.");
    if (error || !out) return error ? error : cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return client_unsupported("a graph that kernels launch");
    if (flags
        & ~(unsigned long long)(cudaGraphInstantiateFlagAutoFreeOnLaunch
                                | cudaGraphInstantiateFlagUpload
                                | cudaGraphInstantiateFlagUseNodePriority))
        return cudaErrorInvalidValue;
    if (graph->conditional || (graph_is_single(graph) && is_executable(graph)))
        return cudaErrorNotSupported;
    error = condition_check_bodies(graph);
    if (error) return error;
    Exec *exec = calloc(1, sizeof *exec);
    if (!exec) return cudaErrorMemoryAllocation;
    exec->flags = flags;
    exec->graph = graph_clone(graph);
    error = exec->graph ? exec_plan(exec) : cudaErrorMemoryAllocation;
    if (error) {
        free_exec(exec);
        return error;
    }
    pthread_mutex_lock(&mutex);
    exec->next = execs;
    execs = exec;
    pthread_mutex_unlock(&mutex);
    *out = (cudaGraphExec_t)exec;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long flags)
{
    return client_done(instantiate(exec, (Graph *)graph, flags));
}

// The flag for an upload is invalid here, because this call names no stream on which to upload.
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                 unsigned long long flags)
{
    bool uploads = flags & cudaGraphInstantiateFlagUpload;
    return client_done(uploads ? cudaErrorInvalidValue : instantiate(exec, (Graph *)graph, flags));
}

EXPORT cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams *how)
{
    if (!how) return client_done(cudaErrorInvalidValue);
    cudaError_t error = instantiate(exec, (Graph *)graph, how->flags);
    Node **sorted = error && graph_known((Graph *)graph) ? graph_sorted((Graph *)graph) : NULL;
    bool circle = error && graph_known((Graph *)graph) && !sorted;
    free(sorted);
    how->errNode_out = circle ? (cudaGraphNode_t)((Graph *)graph)->first : NULL;
    how->result_out = circle ? cudaGraphInstantiateInvalidStructure
                    : error  ? cudaGraphInstantiateError
                             : cudaGraphInstantiateSuccess;
    return client_done(error);
}
TWIN(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *how),
     (exec, graph, how))

EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    if (!flags || !given(__func__, (Exec *)exec)) return client_done(cudaErrorInvalidValue);
    // An H200 returns no other flag.
    *flags = ((Exec *)exec)->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    Exec *exec = (Exec *)handle;
    if (!given(__func__, exec)) return client_done(cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    Exec **at = &execs;
    while (*at != exec) at = &(*at)->next;
    *at = exec->next;
    pthread_mutex_unlock(&mutex);
    client_destroyed(__func__, WIRE_HANDLE_EXEC, exec);
    free_exec(exec);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                           unsigned enabled)
{
    Node *node = exec_node(__func__, (Exec *)exec, (Node *)original);
    if (!node || node->operation.kind > OPERATION_FILL) // no kernel, memcpy or memset node
        return client_done(cudaErrorInvalidValue);
    node->disabled = !enabled;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t original,
                                           unsigned *enabled)
{
    Node *node = exec_node(__func__, (Exec *)exec, (Node *)original);
    if (!enabled || !node || node->operation.kind > OPERATION_FILL)
        return client_done(cudaErrorInvalidValue);
    *enabled = !node->disabled;
    return cudaSuccess;
}

// ---- Launching ----

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    Exec *exec = (Exec *)handle;
    cudaError_t error = client_open();
    if (!error && !is_known(exec))
        error = client_was_destroyed("cudaGraphLaunch", WIRE_HANDLE_EXEC, exec, true)
                  ? cudaErrorInvalidValue
                  : client_misuse("cudaGraphLaunch", cudaErrorInvalidValue,
                                  "cudaGraphLaunch: this is no executable graph",
                                  "It was never instantiated, or has been destroyed.",
                                  "Launch what cudaGraphInstantiate gave.");
    if (error) return client_done(error);
    uint64_t id = client_stream(stream);
    bool captured = capture_has_stream(id);
    error = captured ? capture_ends_by("cudaGraphLaunch", id)
                     : capture_forbids_waiting("cudaGraphLaunch", id);
    if (captured)
        error =
            client_misuse("cudaGraphLaunch", error, "cudaGraphLaunch: the stream is being captured",
                          "A launch of an executable graph cannot become a part of another graph, "
                          "and the capture is lost.",
                          "Add the graph as a node, with cudaGraphAddChildGraphNode, or launch it "
                          "after cudaStreamEndCapture.");
    return client_done(error ? error : exec_run(exec, id));
}
TWIN(cudaGraphLaunch, cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
     (exec, stream))

// There is nothing to upload: each launch sends the graph's operations to the device.
EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    WireReply facts;
    uint64_t id = client_stream(stream);
    cudaError_t error = given(__func__, (Exec *)exec) ? capture_forbids_waiting(__func__, id)
                                                      : cudaErrorInvalidValue;
    if (!error) error = client_stream_facts("cudaGraphLaunch", id, &facts);
    return client_done(error);
}
TWIN(cudaGraphUpload, cudaGraphUpload_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
     (exec, stream))

// ---- Updating ----

static bool is_row(const CopyOperation *copy) { return copy->rows == 1 && copy->slices == 1; }

static bool same_side(const void *p, const void *q)
{
    return client_is_device(p) == client_is_device(q);
}

// Can an update give the operation the other's parameters? A memset of several rows keeps their
// number and width. A memcpy remains a copy of one row or of several, and each of its ends stays
// host memory or stays device memory.
static bool can_become(const Operation *o, const Operation *other)
{
    if (o->kind == OPERATION_FILL)
        return o->fill.rows == other->fill.rows
            && (o->fill.rows == 1 || o->fill.width == other->fill.width);
    if (o->kind != OPERATION_COPY) return true;
    return is_row(&o->copy) == is_row(&other->copy)
        && same_side(o->copy.to.address, other->copy.to.address)
        && same_side(o->copy.from.address, other->copy.from.address);
}

// Do the two nodes differ only in parameters that an update can change?
static enum cudaGraphExecUpdateResult compare(const Node *node, const Node *other)
{
    if (node->need_count != other->need_count) return cudaGraphExecUpdateErrorTopologyChanged;
    if (node->operation.kind != other->operation.kind)
        return cudaGraphExecUpdateErrorNodeTypeChanged;
    bool has_memory = operation_is_memory(&node->operation);
    if (has_memory && node->operation.memory.address != other->operation.memory.address)
        return cudaGraphExecUpdateErrorNotSupported;
    for (size_t i = 0; i < node->need_count; i++)
        if (node->needs[i]->place != other->needs[i]->place)
            return cudaGraphExecUpdateErrorTopologyChanged;
    return can_become(&node->operation, &other->operation)
             ? cudaGraphExecUpdateSuccess
             : cudaGraphExecUpdateErrorParametersChanged;
}

static enum cudaGraphExecUpdateResult compare_all(const Graph *graph, const Graph *other,
                                                  const Node **at);

// Compares the graphs node by node in topological order. *at: the first node that differs.
static enum cudaGraphExecUpdateResult compare_sorted(Node **nodes, Node **others, size_t count,
                                                     const Node **at)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    for (size_t i = 0; i < count; i++) nodes[i]->place = others[i]->place = i;
    for (size_t i = 0; i < count && !result; i++) {
        *at = others[i];
        result = compare(nodes[i], others[i]);
        if (!result && nodes[i]->operation.kind == OPERATION_GRAPH)
            result = compare_all(nodes[i]->operation.graph, others[i]->operation.graph, at);
    }
    return result;
}

static enum cudaGraphExecUpdateResult compare_all(const Graph *graph, const Graph *other,
                                                  const Node **at)
{
    *at = NULL;
    if (graph->count != other->count) return cudaGraphExecUpdateErrorTopologyChanged;
    Node **nodes = graph_sorted(graph), **others = graph_sorted(other);
    enum cudaGraphExecUpdateResult result = nodes && others
                                              ? compare_sorted(nodes, others, graph->count, at)
                                              : cudaGraphExecUpdateErrorTopologyChanged;
    free(nodes);
    free(others);
    return result;
}

bool exec_is_like(const Graph *graph, const Graph *other)
{
    const Node *at;
    return compare_all(graph, other, &at) == cudaGraphExecUpdateSuccess;
}

// The program names a node of an executable graph by its original in the graph from which it was
// instantiated. After an update the new nodes take over these originals.
static bool pass_on(const Graph *old, const Graph *new)
{
    Node **from = graph_sorted(old), **to = graph_sorted(new);
    bool good = from && to;
    for (size_t i = 0; good && i < old->count; i++) {
        graph_set_original(to[i], from[i]->original);
        to[i]->disabled = from[i]->disabled;
    }
    free(from);
    free(to);
    return good;
}

// Needs the mutex, because another thread that instantiates a graph reads exec->graph
// (is_executable).
static void become(Exec *exec, Graph *graph)
{
    pthread_mutex_lock(&mutex);
    Graph *old = exec->graph;
    exec->graph = graph;
    pthread_mutex_unlock(&mutex);
    graph_free(old);
}

EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *info)
{
    Exec *exec = (Exec *)handle;
    const Node *at = NULL;
    if (!given(__func__, exec) || !graph_given(__func__, graph))
        return client_done(cudaErrorInvalidValue);
    cudaGraphExecUpdateResultInfo none, *to = info ? info : &none;
    *to =
        (cudaGraphExecUpdateResultInfo){ .result = compare_all(exec->graph, (Graph *)graph, &at) };
    if (to->result) {
        to->errorNode = (cudaGraphNode_t)at;
        return client_done(cudaErrorGraphExecUpdateFailure);
    }
    Graph *updated = graph_clone((Graph *)graph);
    if (!updated) return client_done(cudaErrorMemoryAllocation);
    if (!pass_on(exec->graph, updated)) {
        graph_free(updated);
        return client_done(cudaErrorMemoryAllocation);
    }
    become(exec, updated);
    return client_done(exec_plan(exec));
}
