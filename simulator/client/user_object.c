// User objects: data of the program that must live as long as a graph, with a reference count and a
// destructor. Graphs hold references, and so do their clones and executable graphs.

#include "graph.h"
#include "host.h"
#include <stdlib.h>

typedef struct UserObject {
    cudaHostFn_t destroy;
    void *data;
    size_t references;
} UserObject;

struct Held {
    struct Held *next;
    UserObject *object;
    size_t count;
};

static void release(UserObject *object, size_t count)
{
    if (__atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL)) return;
    host_call_later(object->destroy,
                    object->data); // after the host functions of earlier launches
    free(object);
}

static struct Held *find(const Graph *graph, const UserObject *object)
{
    struct Held *held = graph->held;
    while (held && held->object != object) held = held->next;
    return held;
}

// Adds `count` references to those that the graph holds; the caller counts them in the object.
// False: out of memory.
static bool hold(Graph *graph, UserObject *object, size_t count)
{
    struct Held *held = find(graph, object);
    if (!held) {
        held = calloc(1, sizeof *held);
        if (!held) return false;
        *held = (struct Held){ graph->held, object, 0 };
        graph->held = held;
    }
    held->count += count;
    return true;
}

bool graph_hold_as(Graph *graph, const Graph *other)
{
    for (const struct Held *held = other->held; held; held = held->next) {
        __atomic_add_fetch(&held->object->references, held->count, __ATOMIC_RELAXED);
        if (!hold(graph, held->object, held->count)) {
            release(held->object, held->count);
            return false;
        }
    }
    return true;
}

void graph_hold_nothing(Graph *graph)
{
    for (struct Held *next, *held = graph->held; held; held = next) {
        next = held->next;
        release(held->object, held->count);
        free(held);
    }
    graph->held = NULL;
}

// ---- Calls ----

EXPORT cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *data, cudaHostFn_t destroy,
                                        unsigned references, unsigned flags)
{
    if (!out || !destroy || !references || flags != cudaUserObjectNoDestructorSync)
        return client_done(cudaErrorInvalidValue);
    UserObject *object = malloc(sizeof *object);
    if (!object) return client_done(cudaErrorMemoryAllocation);
    *object = (UserObject){ destroy, data, references };
    *out = (cudaUserObject_t)object;
    return cudaSuccess;
}

EXPORT cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count)
{
    UserObject *object = (UserObject *)handle;
    if (!object || !count || count > INT32_MAX) return client_done(cudaErrorInvalidValue);
    __atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
    return cudaSuccess;
}

EXPORT cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count)
{
    UserObject *object = (UserObject *)handle;
    if (!object || !count || count > __atomic_load_n(&object->references, __ATOMIC_ACQUIRE))
        return client_done(cudaErrorInvalidValue);
    release(object, count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t wanted,
                                             unsigned count, unsigned flags)
{
    Graph *graph = (Graph *)handle;
    UserObject *object = (UserObject *)wanted;
    if (!graph_given(__func__, handle) || !object || !count || count > INT32_MAX
        || (flags & ~(unsigned)cudaGraphUserObjectMove))
        return client_done(cudaErrorInvalidValue);
    if (!hold(graph, object, count)) return client_done(cudaErrorMemoryAllocation);
    if (!(flags & cudaGraphUserObjectMove))
        __atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t given,
                                              unsigned count)
{
    Graph *graph = (Graph *)handle;
    struct Held *held = graph_given(__func__, handle) ? find(graph, (UserObject *)given) : NULL;
    if (!held || !count || count > held->count) return client_done(cudaErrorInvalidValue);
    held->count -= count;
    release(held->object, count);
    for (struct Held **at = &graph->held; !held->count && *at; at = &(*at)->next)
        if (*at == held) {
            *at = held->next;
            free(held);
            break;
        }
    return cudaSuccess;
}
