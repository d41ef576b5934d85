// Nodes that have graphs of their own run, or not, as kernels decide (graph_condition.c).
#pragma once
#include "graph.h"

bool graph_has_condition(const Graph *graph);
void condition_forget(const Graph *graph); // it is gone: no further node can have its handles

// cudaErrorInvalidValue, and a report: there is a node in a body that can not be in one.
cudaError_t condition_check_bodies(const Graph *graph);

// What cudaGraphAddNode is to do for one in the graph. Its graphs are new, and the caller's until
// condition_drop().
cudaError_t condition_describe(const Graph *graph, const struct cudaConditionalNodeParams *p,
                               Operation *operation);
bool condition_keep(Operation *kept,
                    const Operation *operation); // with copies of the graphs; false: no memory
void condition_drop(Operation *operation);

// The graph is about to be launched on the stream: handles get their first values.
cudaError_t condition_begin(const Graph *graph, uint64_t stream);

// Waits until the stream has come to the node, and tells which of its graphs is to run now; -1:
// none.
cudaError_t condition_choose(const Operation *operation, uint64_t stream, int *body);
