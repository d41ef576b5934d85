// Memory nodes: memory that graphs allocate and free. The address is fixed when the node is added.
// The memory exists from the allocation in a launch until the graph, or later the program, frees
// it. The next launch allocates it at the same address.

#include "graph.h"
#include "graph_memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Memory {
    struct Memory *next;
    uint64_t address;
    size_t bytes;
    bool held; // a launch has left it allocated
} Memory;

static Memory *memories;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static Memory *find(uint64_t address)
{
    pthread_mutex_lock(&mutex);
    Memory *memory = memories;
    while (memory && memory->address != address) memory = memory->next;
    pthread_mutex_unlock(&mutex);
    return memory;
}

cudaError_t graph_memory_make(const char *call, size_t bytes, Operation *operation)
{
    WireRequest request = client_request(WIRE_POOL_RESERVE, call);
    WireReply reply;
    request.pool.bytes = bytes;
    Memory *memory = calloc(1, sizeof *memory);
    cudaError_t error = memory ? client_simple(&request, &reply) : cudaErrorMemoryAllocation;
    if (error) {
        free(memory);
        return error;
    }
    *memory = (Memory){ NULL, reply.memory.address, bytes, false };
    *operation = (Operation){ .kind = OPERATION_ALLOC,
                              .call = call,
                              .memory = { reply.memory.address, bytes } };
    pthread_mutex_lock(&mutex);
    memory->next = memories;
    memories = memory;
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

void graph_memory_freed(const void *p)
{
    Memory *memory = memories ? find(client_address(p)) : NULL;
    if (memory) memory->held = false;
}

// ---- In graphs ----

static const Node *find_node(const Graph *graph, enum operation_kind kind, uint64_t address)
{
    const Node *node = graph->first;
    while (node && (node->operation.kind != kind || node->operation.memory.address != address))
        node = node->next;
    return node;
}

bool graph_has_memory(const Graph *graph)
{
    for (const Node *node = graph->first; node; node = node->next)
        if (operation_is_memory(&node->operation)) return true;
    return false;
}

cudaError_t graph_memory_check(const Graph *graph, const Operation *operation)
{
    if (operation->kind != OPERATION_RELEASE) return cudaSuccess;
    uint64_t address = operation->memory.address;
    return !find(address) || find_node(graph, OPERATION_RELEASE, address) ? cudaErrorInvalidValue
                                                                          : cudaSuccess;
}

// ---- Launches ----

static cudaError_t request(enum wire_op op, const Operation *operation, uint64_t stream)
{
    WireRequest request = operation_request(operation, op);
    WireReply reply;
    request.stream = stream;
    request.pool.bytes = operation->memory.address;
    return client_simple(&request, &reply);
}

cudaError_t operation_run_memory(const Operation *operation, uint64_t stream)
{
    return request(operation->kind == OPERATION_ALLOC ? WIRE_POOL_AGAIN : WIRE_POOL_FREE, operation,
                   stream);
}

cudaError_t graph_memory_begin(const Graph *graph, bool frees, uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    for (const Node *node = graph->first; node && !error; node = node->next) {
        const Memory *memory =
            node->operation.kind == OPERATION_ALLOC ? find(node->operation.memory.address) : NULL;
        if (memory && memory->held)
            error =
                frees ? request(WIRE_POOL_FREE, &node->operation, stream) : cudaErrorInvalidValue;
    }
    return error;
}

void graph_memory_end(const Graph *graph)
{
    for (const Node *node = graph->first; node; node = node->next) {
        // Of the two nodes for an address, the free node comes later and decides.
        if (operation_is_memory(&node->operation))
            find(node->operation.memory.address)->held = node->operation.kind == OPERATION_ALLOC;
    }
}

// ---- Nodes ----

// Does the program want other devices or processes to access the memory? The device that has the
// memory can always access it.
static bool is_for_others(const struct cudaMemAllocNodeParams *p)
{
    for (size_t i = 0; i < p->accessDescCount; i++)
        if (p->accessDescs[i].location.type != cudaMemLocationTypeDevice
            || p->accessDescs[i].location.id != p->poolProps.location.id
            || p->accessDescs[i].flags != cudaMemAccessFlagsProtReadWrite)
            return true;
    return p->poolProps.handleTypes != cudaMemHandleTypeNone;
}

cudaError_t graph_memory_alloc_node(const char *call, struct cudaMemAllocNodeParams *p,
                                    Operation *operation)
{
    cudaError_t error = client_open();
    *operation = (Operation){ .kind = OPERATION_ALLOC, .call = call };
    if (error || !p || !p->bytesize || (p->accessDescCount && !p->accessDescs)
        || p->poolProps.allocType != cudaMemAllocationTypePinned)
        return error ? error : cudaErrorInvalidValue;
    if (p->poolProps.location.type != cudaMemLocationTypeDevice)
        return client_unsupported("a node that allocates other than a device's memory");
    if (is_for_others(p))
        return client_unsupported("a node that allocates memory for others to reach");
    if (p->poolProps.location.id < 0 || p->poolProps.location.id >= client_facts()->device_count)
        return cudaErrorInvalidValue;
    uint32_t before = client_use_device((uint32_t)p->poolProps.location.id);
    error = graph_memory_make(call, p->bytesize, operation);
    client_use_device(before);
    p->dptr = error ? NULL : (void *)(uintptr_t)operation->memory.address;
    return error;
}

Operation graph_memory_release(const char *call, const void *p)
{
    return (
        Operation){ .kind = OPERATION_RELEASE, .call = call, .memory = { client_address(p), 0 } };
}

void graph_memory_describe(const Operation *operation, struct cudaMemAllocNodeParams *p)
{
    *p = (struct cudaMemAllocNodeParams){
        .poolProps = { .allocType = cudaMemAllocationTypePinned,
                       .location = { cudaMemLocationTypeDevice, .id = (int)operation->device } },
        .bytesize = operation->memory.bytes,
        .dptr = (void *)(uintptr_t)operation->memory.address
    };
}

// ---- The memory pool of a device's graphs ----

static cudaError_t on_graph_pool(enum wire_op op, const char *call, int device, unsigned attribute,
                                 bool set, uint64_t *value)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (device < 0 || device >= client_facts()->device_count)
        return client_done(cudaErrorInvalidDevice);
    WireRequest request = client_request(op, call);
    WireReply reply;
    request.device = (uint32_t)device;
    request.pool.id = WIRE_GRAPH_POOL;
    request.pool.attribute = attribute;
    request.pool.set = set;
    request.pool.bytes = *value;
    error = client_simple(&request, &reply);
    if (!error && !set) *value = reply.pool.value;
    return client_done(error);
}

static cudaError_t attribute(const char *call, int device, enum cudaGraphMemAttributeType which,
                             void *value, bool set)
{
    static const enum cudaMemPoolAttr same[] = {
        [cudaGraphMemAttrUsedMemCurrent] = cudaMemPoolAttrUsedMemCurrent,
        [cudaGraphMemAttrUsedMemHigh] = cudaMemPoolAttrUsedMemHigh,
        [cudaGraphMemAttrReservedMemCurrent] = cudaMemPoolAttrReservedMemCurrent,
        [cudaGraphMemAttrReservedMemHigh] = cudaMemPoolAttrReservedMemHigh
    };
    if (!value || (unsigned)which > cudaGraphMemAttrReservedMemHigh)
        return client_done(cudaErrorInvalidValue);
    return on_graph_pool(WIRE_POOL_ATTRIBUTE, call, device, same[which], set, value);
}

EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType which,
                                                  void *value)
{
    return attribute("cudaDeviceGetGraphMemAttribute", device, which, value, false);
}

EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType which,
                                                  void *value)
{
    return attribute("cudaDeviceSetGraphMemAttribute", device, which, value, true);
}

EXPORT cudaError_t cudaDeviceGraphMemTrim(int device)
{
    uint64_t nothing = 0;
    return on_graph_pool(WIRE_POOL_TRIM, "cudaDeviceGraphMemTrim", device, 0, true, &nothing);
}
