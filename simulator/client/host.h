// Host functions: what the program has the host do in stream order.
#pragma once
#include "client.h"
#include <cuda_runtime_api.h>

bool host_is_busy(uint64_t stream); // has a function on that stream not returned yet?

// Has the function called on that thread after those that wait now. No work of a stream waits for
// it.
void host_call_later(cudaHostFn_t function, void *data);

// Is the calling thread inside of one? It may make no CUDA calls there.
bool host_is_inside(void);
