// What the nodes of every kind have in common (graph_nodes.c), and what those are to do that have
// files of their own.
#pragma once
#include "graph.h"

// Are they all nodes of the graph, and each there once?
bool node_are_of(const Graph *graph, const cudaGraphNode_t *nodes, size_t count);

// Adds a node, unless it is already known what is wrong with it: `error`.
cudaError_t node_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                     size_t count, const Operation *operation, cudaError_t error);
// Gives a node of that kind something else to do.
cudaError_t node_set(Node *node, const Operation *operation, cudaError_t error);
// What a node of that kind does. NULL: it is none, or `out` is NULL.
const Operation *node_get(cudaGraphNode_t node, enum operation_kind kind, const void *out);

// What such a node is to do; `parameters` will be the operation's. The error says what is wrong
// with it.
cudaError_t node_describe_kernel(const struct cudaKernelNodeParams *p, Operation *operation,
                                 char parameters[WIRE_TAIL]);
cudaError_t node_describe_copy(const struct cudaMemcpy3DParms *p, Operation *operation);
