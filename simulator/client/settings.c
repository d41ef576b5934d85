// Preferences for caches and shared memory, which change nothing here, and the driver's entry
// points, of which there are none here.

#include "capture.h"
#include <cuda_runtime_api.h>
#include <stdio.h>

static cudaError_t opened(void)
{
    cudaError_t error = client_open();
    return error ? error : client_sticky();
}

static enum cudaFuncCache preferred; // for all devices; it has no effect

EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    cudaError_t error = opened();
    if (!error)
        error = (unsigned)config > cudaFuncCachePreferEqual
                  ? cudaErrorInvalidValue
                  : capture_forbids("cudaDeviceSetCacheConfig");
    if (!error) preferred = config;
    return client_done(error);
}

EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    cudaError_t error = config ? opened() : cudaErrorInvalidValue;
    if (!error) *config = preferred;
    return client_done(error);
}

// Banks are four bytes wide.
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    cudaError_t error = config ? opened() : cudaErrorInvalidValue;
    if (!error) *config = cudaSharedMemBankSizeFourByte;
    return client_done(error);
}

EXPORT cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return client_done((unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                                         : opened());
}

// No lines persist in L2 here.
EXPORT cudaError_t cudaCtxResetPersistingL2Cache(void) { return client_done(opened()); }

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
    if (result) *result = cudaDriverEntryPointSymbolNotFound;
    snprintf(call, sizeof call, "the driver's %s", symbol);
    return client_unsupported(call);
}
TWIN(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz,
     (const char *symbol, void **function, unsigned version, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *result),
     (symbol, function, version, flags, result))

// cudaGetDriverEntryPoint() is deprecated, but programs still call it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

EXPORT cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                           unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, result);
}
TWIN(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz,
     (const char *symbol, void **function, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *result),
     (symbol, function, flags, result))
