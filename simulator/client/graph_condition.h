// Nodes that have graphs of their own run, or not, as kernels decide (graph_condition.c).
#pragma once
#include "graph.h"

// What cudaGraphAddNode is to do for one. Its graphs are new, and the caller's until condition_drop().
cudaError_t condition_describe(const struct cudaConditionalNodeParams *p, Operation *operation);
bool condition_keep(Operation *kept, const Operation *operation);       // with copies of the graphs; false: no memory
void condition_drop(Operation *operation);

// The graph is about to be launched on the stream: handles get their first values.
cudaError_t condition_begin(const Graph *graph, uint64_t stream);

// Waits until the stream has come to the node, and tells which of its graphs is to run now; -1: none.
cudaError_t condition_choose(const Operation *operation, uint64_t stream, int *body);
