// Graph nodes, kind by kind: adding nodes, and getting and setting their parameters in a graph or
// in an executable graph. Kernel nodes are in graph_kernels.c, memcpy nodes in graph_copies.c.

#include "graph_node.h"
#include "graph_condition.h"
#include "graph_memory.h"
#include <string.h>

static bool is_among(const cudaGraphNode_t *nodes, size_t count, cudaGraphNode_t node)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == node) return true;
    return false;
}

bool node_are_of(const Graph *graph, const cudaGraphNode_t *needs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!needs || !needs[i] || ((Node *)needs[i])->graph != graph
            || is_among(needs, i, needs[i]))
            return false;
    return true;
}

cudaError_t node_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                     size_t count, const Operation *operation, cudaError_t error)
{
    if (!out || !graph_given(operation->call, graph) || !node_are_of((Graph *)graph, needs, count))
        return client_done(cudaErrorInvalidValue);
    if (error) return client_done(error);
    *out = (cudaGraphNode_t)graph_add((Graph *)graph, (Node *const *)needs, count, operation);
    return client_done(*out ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t node_set(Node *node, const Operation *operation, cudaError_t error)
{
    Operation kept;
    if (operation_is_memory(operation))
        return client_done(cudaErrorNotSupported); // a memory node cannot be changed
    if (!node || !graph_known(node->graph) || node->operation.kind != operation->kind)
        return client_done(cudaErrorInvalidValue);
    if (error) return client_done(error);
    if (!operation_keep(&kept, operation)) return client_done(cudaErrorMemoryAllocation);
    operation_drop(&node->operation);
    node->operation = kept;
    graph_adopt(node);
    return cudaSuccess;
}

const Operation *node_get(cudaGraphNode_t node, enum operation_kind kind, const void *out)
{
    const Node *n = (Node *)node;
    return out && n && graph_known(n->graph) && n->operation.kind == kind ? &n->operation : NULL;
}

// ---- Memset nodes ----

static cudaError_t describe_fill(const struct cudaMemsetParams *p, Operation *operation)
{
    *operation = (Operation){ .kind = OPERATION_FILL, .call = "cudaGraphAddMemsetNode" };
    if (!p || !p->width || !p->height
        || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        || client_address(p->dst) % p->elementSize)
        return cudaErrorInvalidValue;
    operation->fill = (FillOperation){ .to = { p->dst, p->pitch, 0 },
                                       .width = p->width * p->elementSize,
                                       .rows = p->height,
                                       .slices = 1,
                                       .value = p->value,
                                       .value_bytes = p->elementSize };
    return operation_check_fill(operation);
}

EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                          const cudaGraphNode_t *needs, size_t count,
                                          const struct cudaMemsetParams *p)
{
    Operation operation;
    cudaError_t error = describe_fill(p, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemsetParams *p)
{
    Operation operation;
    cudaError_t error = describe_fill(p, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemsetParams *p)
{
    Operation operation;
    cudaError_t error = describe_fill(p, &operation);
    return node_set(exec_node(__func__, (Exec *)exec, (Node *)node), &operation, error);
}

EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    const Operation *operation = node_get(node, OPERATION_FILL, p);
    if (!operation) return client_done(cudaErrorInvalidValue);
    const FillOperation *fill = &operation->fill;
    *p = (struct cudaMemsetParams){ .dst = fill->to.address,
                                    .pitch = fill->to.pitch,
                                    .value = fill->value,
                                    .elementSize = fill->value_bytes,
                                    .width = fill->width / fill->value_bytes,
                                    .height = fill->rows };
    return cudaSuccess;
}

// ---- Host functions ----

static cudaError_t describe_host(const struct cudaHostNodeParams *p, Operation *operation)
{
    *operation = (Operation){ .kind = OPERATION_HOST, .call = "cudaGraphAddHostNode" };
    if (!p || !p->fn) return cudaErrorInvalidValue;
    operation->host = (HostOperation){ .function = p->fn, .data = p->userData };
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                        const cudaGraphNode_t *needs, size_t count,
                                        const struct cudaHostNodeParams *p)
{
    Operation operation;
    cudaError_t error = describe_host(p, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *p)
{
    Operation operation;
    cudaError_t error = describe_host(p, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const struct cudaHostNodeParams *p)
{
    Operation operation;
    cudaError_t error = describe_host(p, &operation);
    return node_set(exec_node(__func__, (Exec *)exec, (Node *)node), &operation, error);
}

EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p)
{
    const Operation *operation = node_get(node, OPERATION_HOST, p);
    if (!operation) return client_done(cudaErrorInvalidValue);
    *p = (struct cudaHostNodeParams){ operation->host.function, operation->host.data };
    return cudaSuccess;
}

// ---- Events ----

static cudaError_t describe_event(enum operation_kind kind, cudaEvent_t event, Operation *operation)
{
    *operation = (Operation){ .kind = kind,
                              .event = event,
                              .call = kind == OPERATION_RECORD ? "cudaGraphAddEventRecordNode"
                                                               : "cudaGraphAddEventWaitNode" };
    return event ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t get_event(cudaGraphNode_t node, enum operation_kind kind, cudaEvent_t *event)
{
    const Operation *operation = node_get(node, kind, event);
    if (operation) *event = operation->event;
    return client_done(operation ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t set_event(Node *node, enum operation_kind kind, cudaEvent_t event)
{
    Operation operation;
    cudaError_t error = describe_event(kind, event, &operation);
    return node_set(node, &operation, error);
}

EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                               const cudaGraphNode_t *needs, size_t count,
                                               cudaEvent_t event)
{
    Operation operation;
    cudaError_t error = describe_event(OPERATION_RECORD, event, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                             const cudaGraphNode_t *needs, size_t count,
                                             cudaEvent_t event)
{
    Operation operation;
    cudaError_t error = describe_event(OPERATION_WAIT, event, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, OPERATION_RECORD, event);
}

EXPORT cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return get_event(node, OPERATION_WAIT, event);
}

EXPORT cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_event((Node *)node, OPERATION_RECORD, event);
}

EXPORT cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return set_event((Node *)node, OPERATION_WAIT, event);
}

EXPORT cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        cudaEvent_t event)
{
    return set_event(exec_node(__func__, (Exec *)exec, (Node *)node), OPERATION_RECORD, event);
}

EXPORT cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      cudaEvent_t event)
{
    return set_event(exec_node(__func__, (Exec *)exec, (Node *)node), OPERATION_WAIT, event);
}

// ---- Memory ----

EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                            const cudaGraphNode_t *needs, size_t count,
                                            struct cudaMemAllocNodeParams *p)
{
    Operation operation;
    cudaError_t error = graph_memory_alloc_node("cudaGraphAddMemAllocNode", p, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                  struct cudaMemAllocNodeParams *p)
{
    const Operation *operation = node_get(node, OPERATION_ALLOC, p);
    if (operation) graph_memory_describe(operation, p);
    return client_done(operation ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                           const cudaGraphNode_t *needs, size_t count, void *p)
{
    Operation operation = graph_memory_release("cudaGraphAddMemFreeNode", p);
    cudaError_t error =
        graph_known((Graph *)graph) ? graph_memory_check((Graph *)graph, &operation) : cudaSuccess;
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
    const Operation *operation = node_get(node, OPERATION_RELEASE, out);
    if (operation) *(void **)out = (void *)(uintptr_t)operation->memory.address;
    return client_done(operation ? cudaSuccess : cudaErrorInvalidValue);
}

// ---- Child graphs, and empty nodes ----

static cudaError_t describe_graph(cudaGraph_t graph, Operation *operation)
{
    *operation = (Operation){ .kind = OPERATION_GRAPH,
                              .call = "cudaGraphAddChildGraphNode",
                              .graph = (Graph *)graph };
    if (!graph_given(operation->call, graph)) return cudaErrorInvalidValue;
    return graph_is_single((Graph *)graph) ? cudaErrorNotSupported : cudaSuccess;
}

EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                              const cudaGraphNode_t *needs, size_t count,
                                              cudaGraph_t child)
{
    Operation operation;
    cudaError_t error = describe_graph(child, &operation);
    return node_add(out, graph, needs, count, &operation,
                    child == graph ? cudaErrorInvalidValue : error);
}

EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    const Operation *operation = node_get(node, OPERATION_GRAPH, graph);
    if (operation) *graph = (cudaGraph_t)operation->graph;
    return client_done(operation ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        cudaGraph_t child)
{
    Operation operation;
    cudaError_t error = describe_graph(child, &operation);
    Node *own = exec_node(__func__, (Exec *)exec, (Node *)node);
    if (!error && own && own->operation.kind == OPERATION_GRAPH
        && !exec_is_like(own->operation.graph, operation.graph))
        error = cudaErrorGraphExecUpdateFailure;
    error = node_set(own, &operation, error);
    return client_done(error ? error : exec_plan((Exec *)exec));
}

EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                         const cudaGraphNode_t *needs, size_t count)
{
    Operation operation = { .kind = OPERATION_EMPTY, .call = "cudaGraphAddEmptyNode" };
    return node_add(out, graph, needs, count, &operation, cudaSuccess);
}

// ---- Nodes of any kind ----

EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    static const enum cudaGraphNodeType types[] = {
        [OPERATION_KERNEL] = cudaGraphNodeTypeKernel,
        [OPERATION_COPY] = cudaGraphNodeTypeMemcpy,
        [OPERATION_FILL] = cudaGraphNodeTypeMemset,
        [OPERATION_HOST] = cudaGraphNodeTypeHost,
        [OPERATION_RECORD] = cudaGraphNodeTypeEventRecord,
        [OPERATION_WAIT] = cudaGraphNodeTypeWaitEvent,
        [OPERATION_GRAPH] = cudaGraphNodeTypeGraph,
        [OPERATION_EMPTY] = cudaGraphNodeTypeEmpty,
        [OPERATION_ALLOC] = cudaGraphNodeTypeMemAlloc,
        [OPERATION_RELEASE] = cudaGraphNodeTypeMemFree,
        [OPERATION_CONDITION] = cudaGraphNodeTypeConditional,
    };
    if (!type || !node || !graph_known(((Node *)node)->graph))
        return client_done(cudaErrorInvalidValue);
    *type = types[((Node *)node)->operation.kind];
    return cudaSuccess;
}

static struct cudaKernelNodeParams first_version(const struct cudaKernelNodeParamsV2 *p)
{
    return (struct cudaKernelNodeParams){ p->func,           p->gridDim,      p->blockDim,
                                          p->sharedMemBytes, p->kernelParams, p->extra };
}

// Describes a node of any kind. A kernel's parameters are packed into `parameters`.
static cudaError_t describe(struct cudaGraphNodeParams *p, Operation *operation,
                            char parameters[WIRE_TAIL])
{
    struct cudaKernelNodeParams kernel;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams host;
    *operation = (Operation){ .kind = OPERATION_EMPTY, .call = "cudaGraphAddNode" };
    if (!p) return cudaErrorInvalidValue;
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        kernel = first_version(&p->kernel);
        return node_describe_kernel(&kernel, operation, parameters);
    case cudaGraphNodeTypeMemcpy: return node_describe_copy(&p->memcpy.copyParams, operation);
    case cudaGraphNodeTypeMemset:
        memcpy(&fill, &p->memset, sizeof fill);
        return describe_fill(&fill, operation);
    case cudaGraphNodeTypeHost:
        memcpy(&host, &p->host, sizeof host);
        return describe_host(&host, operation);
    case cudaGraphNodeTypeGraph: return describe_graph(p->graph.graph, operation);
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        return describe_event(OPERATION_WAIT, p->eventWait.event, operation);
    case cudaGraphNodeTypeEventRecord:
        return describe_event(OPERATION_RECORD, p->eventRecord.event, operation);
    case cudaGraphNodeTypeConditional: return cudaErrorNotSupported; // it cannot be changed
    case cudaGraphNodeTypeMemAlloc:
        return graph_memory_alloc_node("cudaGraphAddNode",
                                       (struct cudaMemAllocNodeParams *)&p->alloc, operation);
    case cudaGraphNodeTypeMemFree:
        *operation = graph_memory_release("cudaGraphAddNode", p->free.dptr);
        return cudaSuccess;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
        return client_unsupported("a node with an external semaphore");
    default: return cudaErrorInvalidValue;
    }
}

// Are the reserved words zero? An empty node has no parameters, so for it all words are reserved.
static bool is_clean(const struct cudaGraphNodeParams *p)
{
    bool clean = !p->reserved0[0] && !p->reserved0[1] && !p->reserved0[2] && !p->reserved2;
    for (size_t i = 0;
         p->type == cudaGraphNodeTypeEmpty && i < sizeof p->reserved1 / sizeof *p->reserved1; i++)
        clean = clean && !p->reserved1[i];
    return clean;
}

// The node has empty body graphs from the beginning. The program gets their handles and adds nodes
// to them.
static cudaError_t add_condition(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *needs, size_t count,
                                 struct cudaConditionalNodeParams *p)
{
    Operation operation;
    cudaError_t error = condition_describe((Graph *)graph, p, &operation);
    if (error) return client_done(error);
    error = node_add(out, graph, needs, count, &operation, cudaSuccess);
    condition_drop(&operation);
    if (!error) p->phGraph_out = (cudaGraph_t *)((Node *)*out)->operation.condition.bodies;
    return error;
}

EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                    const cudaGraphNode_t *needs, const cudaGraphEdgeData *edges,
                                    size_t count, struct cudaGraphNodeParams *p)
{
    Operation operation;
    char parameters[WIRE_TAIL];
    if (p && !is_clean(p)) return client_done(cudaErrorInvalidValue);
    if (!graph_edges_plain(edges, count))
        return client_unsupported("a graph's edge from within a kernel");
    if (p && p->type == cudaGraphNodeTypeConditional)
        return add_condition(out, graph, needs, count, &p->conditional);
    cudaError_t error = describe(p, &operation, parameters);
    if (!error && graph_known((Graph *)graph))
        error = graph_memory_check((Graph *)graph, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    Operation operation;
    char parameters[WIRE_TAIL];
    cudaError_t error = describe(p, &operation, parameters);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              struct cudaGraphNodeParams *p)
{
    Operation operation;
    char parameters[WIRE_TAIL];
    cudaError_t error = describe(p, &operation, parameters);
    error = node_set(exec_node(__func__, (Exec *)exec, (Node *)node), &operation, error);
    if (!error && operation.kind == OPERATION_GRAPH) error = exec_plan((Exec *)exec);
    return client_done(error);
}
