// Common to nodes of every kind (graph_nodes.c), and the descriptions of node kinds that have files
// of their own.
#pragma once
#include "graph.h"

// Are they distinct nodes of the graph?
bool node_are_of(const Graph *graph, const cudaGraphNode_t *nodes, size_t count);

// Adds a node, unless `error` is set already.
cudaError_t node_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                     size_t count, const Operation *operation, cudaError_t error);
// Changes what a node of that kind does.
cudaError_t node_set(Node *node, const Operation *operation, cudaError_t error);
// What a node of that kind does. NULL: it is no such node, or `out` is NULL.
const Operation *node_get(cudaGraphNode_t node, enum operation_kind kind, const void *out);

// Describe a node of that kind in *operation, or return the error. A kernel's parameters are packed
// into `parameters`, to which the operation then points.
cudaError_t node_describe_kernel(const struct cudaKernelNodeParams *p, Operation *operation,
                                 char parameters[WIRE_TAIL]);
cudaError_t node_describe_copy(const struct cudaMemcpy3DParms *p, Operation *operation);
