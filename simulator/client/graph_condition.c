// Conditional nodes. What decides is a value on the device, which kernels set; the launch waits for it where it matters, so
// that what is issued behind is known. That takes the host no simulated time, as on hardware, where the device decides.

#include "graph_condition.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct Handle {
    struct Handle *next;
    uint64_t id;
    unsigned first;                             // its value when a graph that asks for it is launched,
    bool assigned;                              // if that is assigned at all
} Handle;

static Handle *handles;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static Handle *find(uint64_t id)
{
    pthread_mutex_lock(&mutex);
    Handle *handle = handles;
    while (handle && handle->id != id)
        handle = handle->next;
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

EXPORT cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph, unsigned first,
                                                    unsigned flags)
{
    cudaError_t error = client_open();
    if (error || !out || !graph_known((Graph *)graph) || (flags & ~(unsigned)cudaGraphCondAssignDefault))
        return client_done(error ? error : cudaErrorInvalidValue);
    Handle *handle = malloc(sizeof *handle);
    uint32_t id = 0;
    error = handle ? ask(WIRE_CONDITION_MAKE, 0, &id) : cudaErrorMemoryAllocation;
    if (error) {
        free(handle);
        return client_done(error);
    }
    *handle = (Handle){ NULL, id, first, flags & cudaGraphCondAssignDefault };
    pthread_mutex_lock(&mutex);
    handle->next = handles;
    handles = handle;
    pthread_mutex_unlock(&mutex);
    *out = id;
    return cudaSuccess;
}

// ---- Nodes ----

static bool is_good(const struct cudaConditionalNodeParams *p)
{
    if (!find(p->handle))
        return false;
    switch (p->type) {
    case cudaGraphCondTypeIf: return p->size == 1 || p->size == 2;
    case cudaGraphCondTypeWhile: return p->size == 1;
    case cudaGraphCondTypeSwitch: return p->size > 0;
    default: return false;
    }
}

cudaError_t condition_describe(const struct cudaConditionalNodeParams *p, Operation *operation)
{
    if (!is_good(p))
        return cudaErrorInvalidValue;
    *operation = (Operation){ .kind = OPERATION_CONDITION, .call = "cudaGraphAddNode",
                              .condition = { p->handle, p->type, p->size, calloc(p->size, sizeof(Graph *)) } };
    for (unsigned i = 0; i < p->size && operation->condition.bodies; i++)
        operation->condition.bodies[i] = graph_make();
    return operation->condition.bodies ? cudaSuccess : cudaErrorMemoryAllocation;
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
        if (operation->condition.bodies[i])
            graph_free(operation->condition.bodies[i]);
    free(operation->condition.bodies);
    operation->condition.bodies = NULL;
}

// ---- Launches ----

static cudaError_t settle(uint64_t stream)
{
    WireRequest request = client_request(WIRE_SETTLE, "cudaGraphLaunch");
    WireReply reply;
    request.stream = stream;
    return client_simple(&request, &reply);
}

static cudaError_t begin_handle(uint64_t id, uint64_t stream)
{
    const Handle *handle = find(id);
    uint32_t first = handle ? handle->first : 0;
    if (!handle || !handle->assigned)
        return cudaSuccess;
    cudaError_t error = settle(stream);         // an earlier launch may still ask for it
    return error ? error : ask(WIRE_CONDITION_SET, id, &first);
}

cudaError_t condition_begin(const Graph *graph, uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    for (const Node *node = graph->first; node && !error; node = node->next) {
        const Operation *o = &node->operation;
        if (o->kind == OPERATION_GRAPH)
            error = condition_begin(o->graph, stream);
        if (o->kind != OPERATION_CONDITION)
            continue;
        error = begin_handle(o->condition.handle, stream);
        for (uint32_t i = 0; i < o->condition.size && !error; i++)
            error = condition_begin(o->condition.bodies[i], stream);
    }
    return error;
}

cudaError_t condition_choose(const Operation *operation, uint64_t stream, int *body)
{
    uint32_t value = 0, size = operation->condition.size;
    cudaError_t error = settle(stream);
    if (!error)
        error = ask(WIRE_CONDITION_READ, operation->condition.handle, &value);
    bool is_switch = operation->condition.type == cudaGraphCondTypeSwitch;
    uint32_t wanted = is_switch ? value : value ? 0 : operation->condition.type == cudaGraphCondTypeIf ? 1 : size;
    *body = wanted < size ? (int)wanted : -1;
    return error;
}
