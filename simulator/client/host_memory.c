// Host memory that kernels can access: pinned allocations (shared.c), and the program's own memory,
// registered (registered.c).

#include "capture.h"
#include <cuda_runtime_api.h>

static cudaError_t host_alloc(const char *call, void **out, size_t bytes)
{
    cudaError_t error = client_open();
    if (!error) error = capture_forbids(call);
    if (error || client_sticky()) return error ? error : client_sticky();
    if (!out) return client_no_place(call);
    *out = NULL;
    if (!bytes) return cudaSuccess;
    WireRequest request = client_request(WIRE_ALLOC, call);
    request.alloc.bytes = bytes;
    request.alloc.align = WIRE_PAGE;
    request.alloc.kind = WIRE_OF_HOST;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (error) return error;
    void *p = (void *)(uintptr_t)reply.memory.address;
    if (!client_map(reply.memory.address, bytes, false)) {
        client_free(call, p, WIRE_OF_HOST);
        return cudaErrorMemoryAllocation;
    }
    *out = p;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return client_done(host_alloc("cudaMallocHost", out, bytes));
}

// The flags make no difference here: all pinned memory is portable and mapped.
EXPORT cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return client_done(cudaErrorInvalidValue);
    return client_done(host_alloc("cudaHostAlloc", out, bytes));
}

EXPORT cudaError_t cudaFreeHost(void *p)
{
    cudaError_t error = client_open();
    if (error || !p) return client_done(error);
    error = capture_forbids("cudaFreeHost");
    if (error) return client_done(error);
    if (client_is_pinned(p) || client_is_device(p))
        return client_done(client_free("cudaFreeHost", p, WIRE_OF_HOST));
    return client_done(
        client_misuse("cudaFreeHost", cudaErrorInvalidValue,
                      "cudaFreeHost was given a pointer that no cudaMallocHost returned",
                      "Only memory of cudaMallocHost and cudaHostAlloc is freed here.",
                      "Free malloc's memory with free, cudaMalloc's with cudaFree."));
}

EXPORT cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || client_sticky()) return client_done(error ? error : client_sticky());
    if (!p || !bytes || client_is_device(p))
        return client_done(
            client_refuse("cudaHostRegister", cudaErrorInvalidValue, "It pins memory of the host.",
                          "Give it what malloc returned, and its bytes.", "was given %s",
                          !p       ? "a null pointer"
                          : !bytes ? "0 bytes"
                                   : "device memory"));
    unsigned here = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (flags & ~(here | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly))
        return client_done(cudaErrorInvalidValue);
    if (flags & ~here)
        return client_unsupported("cudaHostRegister with flags for I/O or read-only memory");
    if (client_is_pinned(p) || client_is_registered(p))
        return client_done(client_refuse(
            "cudaHostRegister",
            client_is_pinned(p) ? cudaErrorInvalidValue : cudaErrorHostMemoryAlreadyRegistered,
            "Memory is pinned once.", "Register memory of malloc, and each range once.",
            "was given memory that is pinned already"));
    error = capture_forbids("cudaHostRegister");
    return client_done(error ? error : client_register(p, bytes, flags));
}

EXPORT cudaError_t cudaHostUnregister(void *p)
{
    cudaError_t error = client_open();
    if (error || client_sticky()) return client_done(error ? error : client_sticky());
    error = capture_forbids("cudaHostUnregister");
    if (error || !p || client_is_pinned(p))
        return client_done(error ? error : cudaErrorInvalidValue);
    error = client_unregister(p);
    if (error)
        client_refuse("cudaHostUnregister", error, "It takes what cudaHostRegister was given.",
                      "Give the same address to both.", "was given %s",
                      error == cudaErrorHostMemoryNotRegistered
                          ? "memory that is not registered"
                          : "an address within registered memory");
    return client_done(error);
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || !out || flags) return client_done(error ? error : cudaErrorInvalidValue);
    uint64_t address = client_registered_address(p);
    if (client_is_registered(p) && !address)
        return client_unsupported(
            "cudaHostGetDevicePointer of a registered file, of another thread's stack, "
            "or of pages some of which were registered before");
    if (!address && !client_is_pinned(p))
        return client_done(
            client_refuse("cudaHostGetDevicePointer", cudaErrorInvalidValue,
                          "Only pinned memory has an address on the device.",
                          "Allocate it with cudaHostAlloc, or register it with cudaHostRegister.",
                          "was given memory that is not pinned"));
    *out = address ? (void *)(uintptr_t)address : p;
    return client_done(client_sticky());
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    cudaError_t error = client_open();
    if (error || !flags || !(client_is_pinned(p) || client_is_registered(p)))
        return client_done(error ? error : cudaErrorInvalidValue);
    // With unified addressing all pinned memory is mapped.
    *flags = cudaHostAllocMapped | client_registered_flags(p);
    return client_done(client_sticky());
}
