// The kind of memory at an address, which follows from the address alone.
#pragma once
#include "wire/wire.h"
#include <stdbool.h>

static inline uint64_t client_address(const void *p) { return (uint64_t)(uintptr_t)p; }

// Device memory or managed memory. The host can access managed memory only.
static inline bool client_is_device(const void *p)
{
    return (uintptr_t)p >= WIRE_MEMORY && (uintptr_t)p < WIRE_PINNED;
}

static inline bool client_is_managed(const void *p)
{
    return (uintptr_t)p >= WIRE_SHARED && (uintptr_t)p < WIRE_PINNED;
}

// Pinned memory of cudaMallocHost and cudaHostAlloc, or the device address of registered memory.
static inline bool client_is_pinned(const void *p)
{
    return (uintptr_t)p >= WIRE_PINNED && (uintptr_t)p < WIRE_END;
}
