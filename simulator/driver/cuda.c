// A stand-in for the CUDA driver's library, of which nothing is simulated: every function of its
// API is here, and reports its name (stubs.awk). A program that is linked with it runs as far as it
// needs none of them. NVIDIA's libraries look for the driver before anything else. Those that bring
// machine code, which cannot be simulated, would only return that they are not initialised; so it
// is reported which library asked.
#define _GNU_SOURCE
#include "../client/inside.h"
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#define EXPORT __attribute__((visibility("default")))

// ---- Who calls ----

// The code's object, which is the program itself or a library; NULL: none that the loader knows.
static const struct link_map *object_of(const void *code)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static bool is_program(const struct link_map *object)
{
    return object == object_of((const void *)getauxval(AT_ENTRY));
}

// Is the object linked with the driver's library, and does not run without it?
static bool needs_driver(const struct link_map *object)
{
    const char *names = NULL;
    bool needs = false;
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) names = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL && names; d++)
        if (d->d_tag == DT_NEEDED && strcmp(names + d->d_un.d_val, "libcuda.so.1") == 0)
            needs = true;
    return needs;
}

// ---- Refusals ----

// The table of the program's runtime. NULL: the program has none, or is linked with NVIDIA's.
static const Inside *inside(void)
{
    cudaError_t (*get)(const void **, const cudaUUID_t *) =
        dlsym(RTLD_DEFAULT, "cudaGetExportTable");
    const void *table = NULL;
    cudaUUID_t id;
    memcpy(id.bytes, INSIDE_TABLE, sizeof id.bytes);
    return get && get(&table, &id) == cudaSuccess ? table : NULL;
}

// Without our runtime nothing reaches the device, which ends with advice of its own.
static void report(const char *what, bool is_needed)
{
    if (inside()) inside()->unsupported(what);
    else if (is_needed)
        fprintf(stderr,
                "warpwise: %s is not supported by the simulated device, which runs programs that "
                "are linked with CUDA's runtime: nvcc -cudart shared\n",
                what);
}

static CUresult refuse(const char *call, const struct link_map *caller)
{
    static _Thread_local char last[512]; // a library asks repeatedly
    char what[512];
    if (!caller || is_program(caller)) snprintf(what, sizeof what, "%s", call);
    else {
        const char *slash = strrchr(caller->l_name, '/');
        snprintf(what, sizeof what, "%s, which %s calls,", call,
                 slash ? slash + 1 : caller->l_name);
    }
    if (strcmp(last, what) != 0) report(what, caller && needs_driver(caller));
    memcpy(last, what, sizeof last);
    return CUDA_ERROR_NOT_SUPPORTED;
}

// For the stubs. `call`: its name as a program writes it.
CUresult driver_unsupported(const char *call, const void *caller)
{
    return refuse(call, object_of(caller));
}

// A library that looks for a driver and is not linked with it can do without: NVRTC asks, and then
// compiles. CUDA's runtime in a library cannot, and asks cuGetProcAddress() first.
EXPORT CUresult cuInit(unsigned flags)
{
    const struct link_map *caller = object_of(__builtin_return_address(0));
    (void)flags;
    if (caller && !is_program(caller) && !needs_driver(caller)) return CUDA_ERROR_NOT_SUPPORTED;
    return refuse("cuInit", caller);
}

static CUresult no_function(const char *symbol, void **function, const void *caller)
{
    const struct link_map *object = object_of(caller);
    char call[128] = "the CUDA driver API";
    if (object && is_program(object) && symbol && *symbol)
        snprintf(call, sizeof call, "the driver's %s", symbol);
    if (function) *function = NULL;
    return refuse(call, object);
}

#undef cuGetProcAddress
EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
    (void)version, (void)flags;
    return no_function(symbol, function, __builtin_return_address(0));
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    (void)version, (void)flags;
    if (status) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return no_function(symbol, function, __builtin_return_address(0));
}

// ---- Errors: what a program prints when a function fails ----

EXPORT CUresult cuGetErrorName(CUresult error, const char **name)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
#include "names.inc"
    };
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !*name; i++)
        if (names[i].code == (int)error) *name = names[i].name;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The runtime's errors have the driver's numbers and descriptions.
EXPORT CUresult cuGetErrorString(CUresult error, const char **words)
{
    static const struct {
        int code;
        const char *name, *words;
    } table[] = {
#include "errors.inc"
    };
    if (!words) return CUDA_ERROR_INVALID_VALUE;
    *words = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table && !*words; i++)
        if (table[i].code == (int)error) *words = table[i].words;
    return *words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
