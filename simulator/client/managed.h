// Managed memory, as batches move it (batch.c).
#pragma once
#include "client.h"

// Moves a range of it to that place; or says that what is there is no longer wanted. In stream
// order.
cudaError_t managed_prefetch(const char *call, const void *p, size_t bytes,
                             struct cudaMemLocation place, cudaStream_t stream);
cudaError_t managed_discard(const char *call, const void *p, size_t bytes, cudaStream_t stream);
