// Conditional nodes, whose graphs run as kernels decide (graph_condition.c).
#pragma once
#include "graph.h"

bool graph_has_condition(const Graph *graph);
void condition_forget(const Graph *graph); // destroyed: no further node can use its handles

// Returns cudaErrorInvalidValue, and reports it, if a body contains a node that it must not
// contain.
cudaError_t condition_check_bodies(const Graph *graph);

// Describes the node for cudaGraphAddNode. Its graphs are new, and the caller's until
// condition_drop().
cudaError_t condition_describe(const Graph *graph, const struct cudaConditionalNodeParams *p,
                               Operation *operation);
bool condition_keep(Operation *kept,
                    const Operation *operation); // copies its graphs too; false: out of memory
void condition_drop(Operation *operation);

// The graph is about to be launched on the stream: sets its handles' initial values.
cudaError_t condition_begin(const Graph *graph, uint64_t stream);

// Waits until the stream reaches the node. Returns which of its graphs is to run now; -1: none. No
// graph of it has more operations than `most`.
cudaError_t condition_choose(const Operation *operation, uint64_t stream, uint32_t most, int *body);
