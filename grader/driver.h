// As much of CUDA's driver API as the grader and its worker call. The driver's library is opened
// and not linked: where there is none, both run as well.
#pragma once
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define DRIVER(X)                                                                                  \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceGetUuid)                                                                             \
    X(cuDeviceGetPCIBusId)                                                                         \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuDeviceTotalMem)                                                                            \
    X(cuMemAlloc)                                                                                  \
    X(cuMemsetD8)                                                                                  \
    X(cuMemGetAllocationGranularity)                                                               \
    X(cuMemCreate)                                                                                 \
    X(cuMemRelease)                                                                                \
    X(cuMemExportToShareableHandle)                                                                \
    X(cuMemImportFromShareableHandle)                                                              \
    X(cuMemAddressReserve)                                                                         \
    X(cuMemAddressFree)                                                                            \
    X(cuMemMap)                                                                                    \
    X(cuMemUnmap)                                                                                  \
    X(cuMemSetAccess)                                                                              \
    X(cuMemcpyHtoD)                                                                                \
    X(cuMemcpyDtoH)

// cuda.h gives some of the names a version, which the members have too.
typedef struct Driver {
#define X(function) __typeof__(function) *function;
    DRIVER(X)
#undef X
} Driver;

// False: there is no driver, or it is older than one of these functions.
static inline bool driver_open(Driver *d)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define DRIVER_SYMBOL(name) #name
#define X(function) found = found && (d->function = dlsym(library, DRIVER_SYMBOL(function)));
    DRIVER(X)
#undef X
#undef DRIVER_SYMBOL
    return found;
}

// Maps memory of `bytes`, whole granules, for GPU 0 to read and write. On an error *address is 0.
static inline CUresult driver_map(const Driver *d, CUmemGenericAllocationHandle memory,
                                  size_t bytes, CUdeviceptr *address)
{
    CUmemAccessDesc access = { .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE },
                               .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
    CUresult error = d->cuMemAddressReserve(address, bytes, 0, 0, 0);
    if (error) return *address = 0, error;
    error = d->cuMemMap(*address, bytes, 0, memory, 0);
    if (!error && (error = d->cuMemSetAccess(*address, bytes, &access, 1)))
        d->cuMemUnmap(*address, bytes);
    if (!error) return CUDA_SUCCESS;
    d->cuMemAddressFree(*address, bytes);
    return *address = 0, error;
}

static inline void driver_unmap(const Driver *d, CUdeviceptr address, size_t bytes)
{
    if (!address) return;
    d->cuMemUnmap(address, bytes);
    d->cuMemAddressFree(address, bytes);
}
