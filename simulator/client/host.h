// Host functions: functions of the program that the host calls in stream order.
#pragma once
#include "client.h"
#include <cuda_runtime_api.h>

bool host_is_busy(uint64_t stream); // has a function on that stream yet to return?

// Queues a function for the thread of host functions. The function belongs to no stream.
void host_call_later(cudaHostFn_t function, void *data);

// Is the calling thread inside a host function, where CUDA calls are forbidden?
bool host_is_inside(void);
