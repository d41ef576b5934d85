// Memory that graphs allocate and free (graph_memory.c).
#pragma once
#include "graph.h"

// An operation that allocates memory of the current device; its address is known at once.
cudaError_t graph_memory_make(const char *call, size_t bytes, Operation *operation);
cudaError_t graph_memory_alloc_node(const char *call, struct cudaMemAllocNodeParams *p,
                                    Operation *operation);
Operation graph_memory_release(const char *call, const void *p); // and an operation that frees it
void graph_memory_describe(const Operation *operation, struct cudaMemAllocNodeParams *p);

// A graph can only free what graphs allocate, and only once.
cudaError_t graph_memory_check(const Graph *graph, const Operation *operation);

// Such graphs can be neither split nor duplicated (graph_is_single).
bool graph_has_memory(const Graph *graph);

// The graph is about to be launched on the stream. Memory that its last launch left allocated is
// freed now, if `frees` is set; otherwise it is an error.
cudaError_t graph_memory_begin(const Graph *graph, bool frees, uint64_t stream);
void graph_memory_end(const Graph *graph); // it has been launched
void graph_memory_freed(const void *p);    // the program has freed that memory
