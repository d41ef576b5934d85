// Memory that graphs allocate and free (graph_memory.c).
#pragma once
#include "graph.h"

// An operation that allocates memory of the current device, whose address is known now.
cudaError_t graph_memory_make(const char *call, size_t bytes, Operation *operation);
cudaError_t graph_memory_alloc_node(const char *call, struct cudaMemAllocNodeParams *p,
                                    Operation *operation);
Operation graph_memory_release(const char *call, const void *p); // and one that frees it
void graph_memory_describe(const Operation *operation, struct cudaMemAllocNodeParams *p);

// Only what graphs allocate can be freed in one, and once.
cudaError_t graph_memory_check(const Graph *graph, const Operation *operation);

// Such graphs cannot be parted, nor more (graph_is_single).
bool graph_has_memory(const Graph *graph);

// The graph is about to be launched: what it left allocated the last time must have been freed, or
// is freed now.
cudaError_t graph_memory_begin(const Graph *graph, bool frees, uint64_t stream);
void graph_memory_end(const Graph *graph); // it has been launched
void graph_memory_freed(const void *p);    // the program has freed that
