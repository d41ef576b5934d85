// Memcpy nodes: of boxes, of plain bytes, and to and from variables.

#include "graph_node.h"

static cudaError_t describe_copy(CopyOperation copy, Operation *operation)
{
    *operation =
        (Operation){ .kind = OPERATION_COPY, .call = "cudaGraphAddMemcpyNode", .copy = copy };
    if (!copy.width || !copy.rows || !copy.slices) return cudaErrorInvalidValue;
    return operation_check_copy(operation);
}

cudaError_t node_describe_copy(const struct cudaMemcpy3DParms *p, Operation *operation)
{
    *operation = (Operation){ .kind = OPERATION_COPY };
    if (!p) return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray) return client_unsupported("a copy node with an array");
    return describe_copy(operation_box_copy(p, false), operation);
}

// In an executable graph each end of a copy must stay host memory or stay device memory.
static cudaError_t set_in(const char *call, cudaGraphExec_t exec, cudaGraphNode_t node,
                          const Operation *operation, cudaError_t error)
{
    Node *n = exec_node(call, (Exec *)exec, (Node *)node);
    const CopyOperation *is = n && n->operation.kind == OPERATION_COPY ? &n->operation.copy : NULL,
                        *will_be = &operation->copy;
    if (is && !error
        && (client_is_device(is->to.address) != client_is_device(will_be->to.address)
            || client_is_device(is->from.address) != client_is_device(will_be->from.address)))
        error = cudaErrorInvalidValue;
    return node_set(n, operation, error);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                          const cudaGraphNode_t *needs, size_t count,
                                          const struct cudaMemcpy3DParms *p)
{
    Operation operation;
    cudaError_t error = node_describe_copy(p, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *p)
{
    Operation operation;
    cudaError_t error = node_describe_copy(p, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemcpy3DParms *p)
{
    Operation operation;
    cudaError_t error = node_describe_copy(p, &operation);
    return set_in(__func__, exec, node, &operation, error);
}

static struct cudaPitchedPtr pitched(const Box *box, const CopyOperation *copy)
{
    size_t rows = box->pitch && box->slice ? box->slice / box->pitch : copy->rows;
    return (struct cudaPitchedPtr){ box->address, box->pitch, 0,
                                    rows }; // the width is 0, as on an H200
}

EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    const Operation *operation = node_get(node, OPERATION_COPY, p);
    if (!operation) return client_done(cudaErrorInvalidValue);
    const CopyOperation *copy = &operation->copy;
    *p = (struct cudaMemcpy3DParms){ .srcPtr = pitched(&copy->from, copy),
                                     .dstPtr = pitched(&copy->to, copy),
                                     .extent = { copy->width, copy->rows, copy->slices },
                                     .kind = copy->kind };
    return cudaSuccess;
}

static cudaError_t describe_plain(void *to, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind, Operation *operation)
{
    return describe_copy(operation_plain_copy(to, from, bytes, kind), operation);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                            const cudaGraphNode_t *needs, size_t count, void *to,
                                            const void *from, size_t bytes,
                                            enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_plain(to, from, bytes, kind, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                                  size_t bytes, enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_plain(to, from, bytes, kind, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      void *to, const void *from, size_t bytes,
                                                      enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_plain(to, from, bytes, kind, &operation);
    return set_in(__func__, exec, node, &operation, error);
}

// Copies to and from variables.
static cudaError_t describe_symbol(const void *symbol, const void *host, size_t bytes,
                                   size_t offset, enum cudaMemcpyKind kind, bool to,
                                   Operation *operation)
{
    uint64_t address, size;
    *operation = (Operation){ .kind = OPERATION_COPY };
    cudaError_t error = client_symbol("a copy node", symbol, &address, &size);
    if (error || offset > size || bytes > size - offset)
        return error ? error : cudaErrorInvalidValue;
    if (kind == cudaMemcpyHostToHost
        || kind == (to ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return cudaErrorInvalidMemcpyDirection;
    void *variable = (void *)(uintptr_t)(address + offset);
    return describe_plain(to ? variable : (void *)host, to ? host : variable, bytes, kind,
                          operation);
}

EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                                  const cudaGraphNode_t *needs, size_t count,
                                                  const void *symbol, const void *from,
                                                  size_t bytes, size_t offset,
                                                  enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, from, bytes, offset, kind, true, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                                    const cudaGraphNode_t *needs, size_t count,
                                                    void *to, const void *symbol, size_t bytes,
                                                    size_t offset, enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, to, bytes, offset, kind, false, &operation);
    return node_add(out, graph, needs, count, &operation, error);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                        const void *from, size_t bytes,
                                                        size_t offset, enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, from, bytes, offset, kind, true, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                          const void *symbol, size_t bytes,
                                                          size_t offset, enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, to, bytes, offset, kind, false, &operation);
    return node_set((Node *)node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec,
                                                            cudaGraphNode_t node,
                                                            const void *symbol, const void *from,
                                                            size_t bytes, size_t offset,
                                                            enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, from, bytes, offset, kind, true, &operation);
    return set_in(__func__, exec, node, &operation, error);
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node, void *to,
                                                              const void *symbol, size_t bytes,
                                                              size_t offset,
                                                              enum cudaMemcpyKind kind)
{
    Operation operation;
    cudaError_t error = describe_symbol(symbol, to, bytes, offset, kind, false, &operation);
    return set_in(__func__, exec, node, &operation, error);
}
