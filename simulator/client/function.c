// What is known of a kernel, and what may be set of it.

#include "symbol.h"
#include <cuda_runtime_api.h>

EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *key)
{
    Symbol *symbol = symbol_find(key, false);
    cudaError_t error = client_open();
    if (error || !out)
        return client_done(error ? error : cudaErrorInvalidValue);
    if (!symbol)
        return client_done(cudaErrorInvalidDeviceFunction);
    error = symbol_resolve(symbol);
    if (error)
        return client_done(error);
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = symbol_here(symbol)->found.kernel.shared_bytes,
        .localSizeBytes = symbol_here(symbol)->found.kernel.local_bytes,
        .maxThreadsPerBlock = (int)symbol_here(symbol)->found.kernel.max_threads,
        .numRegs = (int)symbol_here(symbol)->found.kernel.registers,     // 0 without native code
        .ptxVersion = (int)symbol_here(symbol)->found.kernel.ptx_version,
        .binaryVersion = client_facts()->major * 10 + client_facts()->minor,
        .maxDynamicSharedSizeBytes = (int)symbol_here(symbol)->dynamic_limit,
        .preferredShmemCarveout = -1,
    };
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetAttribute(const void *key, enum cudaFuncAttribute attribute,
                                        int value)
{
    Symbol *symbol = symbol_find(key, false);
    cudaError_t error = client_open();
    if (error || !symbol)
        return client_done(error ? error : cudaErrorInvalidDeviceFunction);
    error = symbol_resolve(symbol);
    if (error)
        return client_done(error);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value >= -1 && value <= 100 ? cudaSuccess : client_done(cudaErrorInvalidValue);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return client_unsupported("cudaFuncSetAttribute with a cluster attribute");
    int most = client_facts()->shared_per_block_optin - (int)symbol_here(symbol)->found.kernel.shared_bytes;
    if (value < 0 || value > most)
        return client_done(cudaErrorInvalidValue);
    symbol_here(symbol)->dynamic_limit = (size_t)value;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetCacheConfig(const void *key, enum cudaFuncCache config)
{
    (void)config;                               // a preference only
    return client_done(symbol_find(key, false) ? client_sticky() : cudaErrorInvalidDeviceFunction);
}

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *key)
{
    Symbol *symbol = symbol_find(key, false);
    if (!name || !symbol)
        return client_done(name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *name = symbol->name;
    return cudaSuccess;
}
