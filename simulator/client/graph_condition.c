// Conditional nodes. A value on the device, which kernels set, decides which body graph runs. The
// launch waits until the stream reaches the node, reads the value, and only then issues what
// follows. This takes the host no simulated time, because on hardware the device decides.

#include "graph_condition.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Handle {
    struct Handle *next;
    uint64_t id;
    const Graph *graph; // one node of it, or of a graph inside it, may use this; NULL: destroyed
    unsigned first;     // the default value, which each launch assigns
    bool assigned;      // if this is set (cudaGraphCondAssignDefault)
} Handle;

static Handle *handles;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static Handle *find(uint64_t id)
{
    pthread_mutex_lock(&mutex);
    Handle *handle = handles;
    while (handle && handle->id != id) handle = handle->next;
    pthread_mutex_unlock(&mutex);
    return handle;
}

static cudaError_t ask(enum wire_condition what, uint64_t id, uint32_t *value)
{
    WireRequest request = client_request(WIRE_CONDITION, "cudaGraphLaunch");
    WireReply reply;
    request.condition.what = what;
    request.condition.id = id;
    request.condition.value = *value;
    cudaError_t error = client_simple(&request, &reply);
    *value = (uint32_t)reply.id;
    return error;
}

EXPORT cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out,
                                                    cudaGraph_t graph, unsigned first,
                                                    unsigned flags)
{
    cudaError_t error = client_open();
    if (error || !out || !graph_given(__func__, graph)
        || (flags & ~(unsigned)cudaGraphCondAssignDefault))
        return client_done(error ? error : cudaErrorInvalidValue);
    Handle *handle = malloc(sizeof *handle);
    uint32_t id = 0;
    error = handle ? ask(WIRE_CONDITION_MAKE, 0, &id) : cudaErrorMemoryAllocation;
    if (error) {
        free(handle);
        return client_done(error);
    }
    *handle = (Handle){ NULL, id, (Graph *)graph, first, flags & cudaGraphCondAssignDefault };
    pthread_mutex_lock(&mutex);
    handle->next = handles;
    handles = handle;
    pthread_mutex_unlock(&mutex);
    *out = id;
    return cudaSuccess;
}

// ---- Nodes ----

bool graph_has_condition(const Graph *graph)
{
    for (const Node *node = graph->first; node; node = node->next)
        if (node->operation.kind == OPERATION_CONDITION) return true;
    return false;
}

void condition_forget(const Graph *graph)
{
    pthread_mutex_lock(&mutex);
    for (Handle *handle = handles; handle; handle = handle->next)
        if (handle->graph == graph) handle->graph = NULL;
    pthread_mutex_unlock(&mutex);
}

// Does a node of the graph, or of a graph inside it, use the handle?
static bool is_taken(const Graph *graph, uint64_t handle)
{
    bool taken = false;
    for (const Node *node = graph->first; node && !taken; node = node->next) {
        const Operation *o = &node->operation;
        if (o->kind == OPERATION_GRAPH) taken = is_taken(o->graph, handle);
        if (o->kind != OPERATION_CONDITION) continue;
        taken = o->condition.handle == handle;
        for (uint32_t i = 0; i < o->condition.size && !taken; i++)
            taken = is_taken(o->condition.bodies[i], handle);
    }
    return taken;
}

static bool is_for(const Handle *handle, const Graph *graph)
{
    while (graph && graph != handle->graph) graph = graph->inside;
    return graph && !is_taken(graph, handle->id);
}

static bool is_good(const Graph *graph, const struct cudaConditionalNodeParams *p)
{
    const Handle *handle = find(p->handle);
    if (!handle || !graph_known(graph) || !is_for(handle, graph)) return false;
    switch (p->type) {
    case cudaGraphCondTypeIf: return p->size == 1 || p->size == 2;
    case cudaGraphCondTypeWhile: return p->size == 1;
    case cudaGraphCondTypeSwitch: return p->size > 0;
    default: return false;
    }
}

cudaError_t condition_describe(const Graph *graph, const struct cudaConditionalNodeParams *p,
                               Operation *operation)
{
    if (!is_good(graph, p)) return cudaErrorInvalidValue;
    *operation = (Operation){ .kind = OPERATION_CONDITION,
                              .call = "cudaGraphAddNode",
                              .condition = { p->handle, p->type, p->size,
                                             calloc(p->size, sizeof(Graph *)) } };
    for (unsigned i = 0; i < p->size && operation->condition.bodies; i++)
        operation->condition.bodies[i] = graph_make();
    return operation->condition.bodies ? cudaSuccess : cudaErrorMemoryAllocation;
}

static bool can_be_in_body(enum operation_kind kind)
{
    return kind == OPERATION_KERNEL || kind == OPERATION_COPY || kind == OPERATION_FILL
        || kind == OPERATION_EMPTY || kind == OPERATION_GRAPH || kind == OPERATION_CONDITION;
}

static cudaError_t check_body(const Graph *body)
{
    cudaError_t error = condition_check_bodies(body);
    for (const Node *node = body->first; node && !error; node = node->next) {
        if (!can_be_in_body(node->operation.kind))
            return client_misuse(
                "cudaGraphInstantiate", cudaErrorInvalidValue,
                "cudaGraphInstantiate: a conditional node's graph has a node that it can not have",
                "The device runs it without the host: it has kernels, copies, fills, graphs and "
                "further conditions only.",
                "Put host functions, events and memory nodes before or after the conditional "
                "node.");
        if (node->operation.kind == OPERATION_GRAPH) error = check_body(node->operation.graph);
    }
    return error;
}

cudaError_t condition_check_bodies(const Graph *graph)
{
    cudaError_t error = cudaSuccess;
    for (const Node *node = graph->first; node && !error; node = node->next) {
        const Operation *o = &node->operation;
        if (o->kind == OPERATION_GRAPH) error = condition_check_bodies(o->graph);
        for (uint32_t i = 0; o->kind == OPERATION_CONDITION && i < o->condition.size && !error; i++)
            error = check_body(o->condition.bodies[i]);
    }
    return error;
}

bool condition_keep(Operation *kept, const Operation *operation)
{
    uint32_t size = operation->condition.size;
    bool good = (kept->condition.bodies = calloc(size, sizeof(Graph *))) != NULL;
    for (uint32_t i = 0; i < size && good; i++) {
        kept->condition.bodies[i] = graph_clone(operation->condition.bodies[i]);
        good = kept->condition.bodies[i] != NULL;
    }
    return good;
}

void condition_drop(Operation *operation)
{
    for (uint32_t i = 0; i < operation->condition.size && operation->condition.bodies; i++)
        if (operation->condition.bodies[i]) graph_free(operation->condition.bodies[i]);
    free(operation->condition.bodies);
    operation->condition.bodies = NULL;
}

// ---- Launches ----

static cudaError_t begin_handle(uint64_t id, uint64_t stream)
{
    const Handle *handle = find(id);
    uint32_t first = handle ? handle->first : 0;
    if (!handle || !handle->assigned) return cudaSuccess;
    // An earlier launch may still read the value.
    cudaError_t error = client_stream_settle("cudaGraphLaunch", stream);
    return error ? error : ask(WIRE_CONDITION_SET, id, &first);
}

cudaError_t condition_begin(const Graph *graph, uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    for (const Node *node = graph->first; node && !error; node = node->next) {
        const Operation *o = &node->operation;
        if (o->kind == OPERATION_GRAPH) error = condition_begin(o->graph, stream);
        if (o->kind != OPERATION_CONDITION) continue;
        error = begin_handle(o->condition.handle, stream);
        for (uint32_t i = 0; i < o->condition.size && !error; i++)
            error = condition_begin(o->condition.bodies[i], stream);
    }
    return error;
}

cudaError_t condition_choose(const Operation *operation, uint64_t stream, uint32_t most, int *body)
{
    uint32_t value = most, size = operation->condition.size;
    cudaError_t error = client_stream_settle("cudaGraphLaunch", stream);
    if (!error) error = ask(WIRE_CONDITION_READ, operation->condition.handle, &value);
    bool is_switch = operation->condition.type == cudaGraphCondTypeSwitch;
    uint32_t wanted = is_switch                                        ? value
                    : value                                            ? 0
                    : operation->condition.type == cudaGraphCondTypeIf ? 1
                                                                       : size;
    *body = wanted < size ? (int)wanted : -1;
    return error;
}
