// Managed memory, for batches (batch.c).
#pragma once
#include "client.h"

// Migrates a range to that location, or discards its contents, in stream order.
cudaError_t managed_prefetch(const char *call, const void *p, size_t bytes,
                             struct cudaMemLocation place, cudaStream_t stream);
cudaError_t managed_discard(const char *call, const void *p, size_t bytes, cudaStream_t stream);
