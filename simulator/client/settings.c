// What may be preferred or asked for besides: preferences about caches, which change nothing here; the memory of
// graphs, of which there is none; and the driver's own functions, which are not here.

#include "client.h"
#include <cuda_runtime_api.h>
#include <stdio.h>

static cudaError_t opened(void)
{
    cudaError_t error = client_open();
    return error ? error : client_sticky();
}

static enum cudaFuncCache preferred;            // of all devices: nothing follows from it

EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cudaError_t error = opened();
    if (!error && (unsigned)config > cudaFuncCachePreferEqual)
        error = cudaErrorInvalidValue;
    if (!error)
        preferred = config;
    return client_done(error);
}

EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    cudaError_t error = config ? opened() : cudaErrorInvalidValue;
    if (!error)
        *config = preferred;
    return client_done(error);
}

// Banks are four bytes wide.
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    cudaError_t error = config ? opened() : cudaErrorInvalidValue;
    if (!error)
        *config = cudaSharedMemBankSizeFourByte;
    return client_done(error);
}

EXPORT cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return client_done((unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                                         : opened());
}

// No lines persist in L2 here.
EXPORT cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return client_done(opened());
}

// ---- The memory of graphs ----

static cudaError_t check_device(int ordinal)
{
    cudaError_t error = opened();
    bool known = !error && ordinal >= 0 && ordinal < client_facts()->device_count;
    return error || known ? error : cudaErrorInvalidDevice;
}

EXPORT cudaError_t cudaDeviceGraphMemTrim(int ordinal)
{
    return client_done(check_device(ordinal));
}

EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int ordinal, enum cudaGraphMemAttributeType which,
                                                  void *value)
{
    cudaError_t error = check_device(ordinal);
    if (!error && (!value || (unsigned)which > cudaGraphMemAttrReservedMemHigh))
        error = cudaErrorInvalidValue;
    if (!error)
        *(uint64_t *)value = 0;
    return client_done(error);
}

// ---- The driver's functions ----

EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                                    unsigned version, unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *result)
{
    (void)version;
    char call[128];
    if (!symbol || !function || flags > cudaEnablePerThreadDefaultStream)
        return client_done(cudaErrorInvalidValue);
    *function = NULL;
    if (result)
        *result = cudaDriverEntryPointSymbolNotFound;
    snprintf(call, sizeof call, "the driver's %s", symbol);
    return client_unsupported(call);
}
TWIN(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz,
     (const char *symbol, void **function, unsigned version, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *result), (symbol, function, version, flags, result))

// Deprecated, and still called.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

EXPORT cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                           unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}
TWIN(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz,
     (const char *symbol, void **function, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *result), (symbol, function, flags, result))
