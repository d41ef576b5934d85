// A stand-in for the CUDA driver's library. cuBLAS, cuFFT and the host functions of cuRAND look for
// the driver before anything else, and they bring machine code only, which cannot be simulated.
// This library reports which library asked for the driver. Without it those libraries would only
// return that they are not initialised.
#define _GNU_SOURCE
#include "../client/inside.h"
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// The table of the program's runtime. NULL: the program is linked with NVIDIA's runtime.
static const Inside *inside(void)
{
    cudaError_t (*get)(const void **, const cudaUUID_t *) =
        dlsym(RTLD_DEFAULT, "cudaGetExportTable");
    const void *table = NULL;
    cudaUUID_t id;
    memcpy(id.bytes, INSIDE_TABLE, sizeof id.bytes);
    return get && get(&table, &id) == cudaSuccess ? table : NULL;
}

// Reports once for each library that asks, because a library asks repeatedly.
static CUresult refuse(const void *caller)
{
    static char last[256];
    char what[512];
    Dl_info from;
    const char *path = dladdr(caller, &from) && from.dli_fname ? from.dli_fname : "?",
               *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strncmp(last, name, sizeof last - 1) != 0 && inside()) {
        snprintf(last, sizeof last, "%s", name);
        snprintf(what, sizeof what, "the CUDA driver API, which %s calls,", name);
        inside()->unsupported(what);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned flags)
{
    (void)flags;
    return refuse(__builtin_return_address(0));
}

#undef cuGetProcAddress
EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    (void)symbol, (void)version, (void)flags;
    if (function) *function = NULL;
    return refuse(__builtin_return_address(0));
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    (void)symbol, (void)version, (void)flags;
    if (function) *function = NULL;
    if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return refuse(__builtin_return_address(0));
}
