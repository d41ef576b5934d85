// Kernels and variables, which nvcc's start-up code registers. A whole fat binary is sent to the
// device when something in it is first used.

#include "symbol.h"
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum {
    WRAPPER_MAGIC = 0x466243B1, // fatbinary_section.h
    FAT_MAGIC = (int)0xBA55ED50,
    ELF_MAGIC = 0x464C457F,
    MAX_PARAMETERS = WIRE_TAIL / sizeof(WireParameter),
    FIRST_DYNAMIC_SHARED = 48 << 10, // more needs cudaFuncSetAttribute first
};

typedef struct {
    int magic, version;
    const void *data;
    void *more;
} Wrapper;

typedef struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; // after the header
} FatHeader;

typedef struct {
    const void *key;
    Symbol *symbol;
} Entry;

static void *by_pointer; // a tree of Entry: host pointers and handles
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const Entry *)a)->key, y = (uintptr_t)((const Entry *)b)->key;
    return x < y ? -1 : x > y;
}

static void remember(const void *key, Symbol *symbol)
{
    Entry *entry = malloc(sizeof *entry);
    if (!entry) return;
    *entry = (Entry){ key, symbol };
    Entry **found = tsearch(entry, &by_pointer, compare);
    if (found && *found != entry) {
        (*found)->symbol = symbol;
        free(entry);
    }
}

static void forget(const void *key)
{
    Entry wanted = { key, NULL }, **found = tfind(&wanted, &by_pointer, compare);
    if (!found) return;
    Entry *entry = *found;
    tdelete(&wanted, &by_pointer, compare);
    free(entry);
}

Symbol *symbol_find(const void *key, bool variable)
{
    Entry wanted = { key, NULL };
    pthread_mutex_lock(&mutex);
    Entry **found = tfind(&wanted, &by_pointer, compare);
    Symbol *symbol = found ? (*found)->symbol : NULL;
    pthread_mutex_unlock(&mutex);
    return symbol && symbol->variable == variable ? symbol : NULL;
}

Symbol *symbol_add(Image *image, const void *host, const char *name, bool variable)
{
    Symbol *symbol = calloc(1, sizeof *symbol);
    char *copy = strdup(name);
    if (!symbol || !copy) {
        free(symbol);
        free(copy);
        return NULL;
    }
    symbol->image = image;
    symbol->host = host;
    symbol->name = copy;
    symbol->variable = variable;
    for (int i = 0; i < WIRE_DEVICES; i++) symbol->on[i].dynamic_limit = FIRST_DYNAMIC_SHARED;
    pthread_mutex_lock(&mutex);
    symbol->next = image->symbols;
    image->symbols = symbol;
    if (host) remember(host, symbol);
    remember(symbol, symbol);
    pthread_mutex_unlock(&mutex);
    return symbol;
}

void image_free(Image *image)
{
    pthread_mutex_lock(&mutex);
    for (Symbol *next, *symbol = image->symbols; symbol; symbol = next) {
        next = symbol->next;
        forget(symbol);
        if (symbol->host) forget(symbol->host);
        if (symbol->managed && *symbol->managed) forget(*symbol->managed);
        free(symbol->parameters);
        free(symbol->name);
        free(symbol);
    }
    pthread_mutex_unlock(&mutex);
    free(image->joined);
    free(image);
}

// The image's first four bytes, which tell its format. Only PTX text may be unaligned.
static uint32_t magic_of(const void *data)
{
    uint32_t magic;
    memcpy(&magic, data, sizeof magic);
    return magic;
}

static size_t fat_bytes(const void *data)
{
    const FatHeader *header = data;
    return magic_of(data) == (uint32_t)FAT_MAGIC ? header->header_bytes + header->bytes : 0;
}

// Copies the linked fat binary and its parts into one block, one after another, as the device
// expects them.
static bool join_parts(Image *image)
{
    const void *const *part = image->parts;
    size_t bytes = fat_bytes(image->data), at = bytes;
    for (; *part; part++) bytes += fat_bytes(*part);
    char *joined = malloc(bytes + 1);
    if (!joined) return false;
    memcpy(joined, image->data, at);
    for (part = image->parts; *part; at += fat_bytes(*part++))
        memcpy(joined + at, *part, fat_bytes(*part));
    image->data = image->joined = joined;
    image->bytes = bytes;
    image->parts = NULL;
    return true;
}

// Finds the size of an image: a fat binary's header has it, PTX text ends with a 0. False: it is a
// native image, which the device cannot run, or empty.
static bool measure(Image *image)
{
    if (image->joined) return true;
    if (magic_of(image->data) == ELF_MAGIC) return false;
    const size_t bytes = fat_bytes(image->data);
    image->bytes = bytes ? bytes : strlen(image->data);
    return image->bytes > 0;
}

void image_unwrap(Image *image, const void *data)
{
    image->data = data;
    const Wrapper *wrapper = data;
    if (magic_of(data) == WRAPPER_MAGIC) {
        image->data = wrapper->data;
        image->parts = wrapper->version == 2 ? wrapper->more : NULL;
    }
}

bool image_keep(Image *image)
{
    if (image->joined) return true;
    image->joined = malloc(image->bytes);
    if (image->joined) image->data = memcpy(image->joined, image->data, image->bytes);
    return image->joined;
}

static void fill_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const Image *image = context;
    memcpy(slot, (const char *)image->data + offset, bytes);
}

// The image's id on any device that has loaded it; 0: none has.
static uint64_t any_id(const Image *image)
{
    uint64_t id = 0;
    for (int i = 0; i < WIRE_DEVICES && !id; i++) id = image->on[i].id;
    return id;
}

static cudaError_t load_now(Image *image, uint64_t *id)
{
    if (image->parts && !join_parts(image)) return cudaErrorMemoryAllocation;
    if (!measure(image)) return client_unsupported("a native (ELF) image without PTX");
    WireRequest request = client_request(WIRE_MODULE, "the loading of a module");
    request.module.twin = any_id(image);
    WireReply reply;
    cudaError_t error = client_transfer(&request, &request.module.chunk, image->bytes, fill_slot,
                                        NULL, image, &reply);
    *id = error ? 0 : reply.id;
    return error;
}

cudaError_t image_load(Image *image)
{
    cudaError_t error = client_open();
    if (error || client_sticky()) return error ? error : client_sticky();
    uint32_t here = client_device();
    if (!image->on[here].loaded) image->on[here].error = load_now(image, &image->on[here].id);
    image->on[here].loaded = true;
    return image->on[here].error;
}

cudaError_t image_unload(Image *image)
{
    cudaError_t first = cudaSuccess;
    for (Symbol *symbol = image->symbols; symbol; symbol = symbol->next)
        if (symbol->mapped) client_unmap(symbol_here(symbol)->found.memory.address);
    for (int i = 0; i < WIRE_DEVICES; i++) {
        if (!image->on[i].id) continue;
        WireRequest request = client_request(WIRE_MODULE_UNLOAD, "cudaLibraryUnload");
        request.object.id = image->on[i].id;
        WireReply reply;
        cudaError_t error = client_simple(&request, &reply);
        first = first ? first : error;
    }
    return first;
}

// Keeps the layout of the parameters, which is the same on all devices, from the first reply.
static cudaError_t keep_parameters(Symbol *symbol, const WireParameter *parameters)
{
    const WireReply *found = &symbol_here(symbol)->found;
    size_t bytes = found->kernel.count * sizeof *parameters;
    if (found->kernel.count > MAX_PARAMETERS || bytes > found->tail) return cudaErrorUnknown;
    if (symbol->parameters) return cudaSuccess;
    symbol->parameters = malloc(bytes + 1);
    if (!symbol->parameters) return cudaErrorMemoryAllocation;
    memcpy(symbol->parameters, parameters, bytes);
    return cudaSuccess;
}

static cudaError_t resolve_now(Symbol *symbol)
{
    enum wire_op op = symbol->variable ? WIRE_VARIABLE : WIRE_KERNEL;
    WireRequest request = client_request(op, symbol->variable ? "a symbol" : "a launch");
    request.name.module = symbol->image->on[client_device()].id;
    WireParameter parameters[MAX_PARAMETERS];
    cudaError_t error = client_call(&request, symbol->name, strlen(symbol->name),
                                    &symbol_here(symbol)->found, parameters, sizeof parameters);
    Resolved *here = symbol_here(symbol);
    if (error || symbol->variable) return error;
    memcpy(here->cluster, here->found.kernel.cluster, sizeof here->cluster);
    return keep_parameters(symbol, parameters);
}

cudaError_t symbol_resolve(Symbol *symbol)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    Resolved *here = symbol_here(symbol);
    if (here->resolved && !client_sticky()) return here->error;
    // In a forked child this fails: the mutex may be locked there for ever.
    cudaError_t error = client_open();
    if (error) return error;
    pthread_mutex_lock(&once);
    error = image_load(symbol->image);
    if (!error && !here->resolved) {
        here->error = resolve_now(symbol);
        if (!here->error && !symbol->variable)
            here->dynamic_limit -=
                here->found.kernel
                    .shared_bytes; // static and dynamic shared memory share the 48 KiB
        here->resolved = !client_sticky();
    }
    pthread_mutex_unlock(&once);
    return error ? error : here->error;
}

// ---- Called by the code that nvcc generates ----

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    Image *image = calloc(1, sizeof *image);
    if (image) image_unwrap(image, wrapper);
    return (void **)image;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **image) { (void)image; }

EXPORT void __cudaUnregisterFatBinary(void **image)
{
    // The program is ending, and the device with it, so nothing is unloaded there.
    if (image) image_free((Image *)image);
}

EXPORT void __cudaRegisterFunction(void **image, const char *host, char *stub, const char *name,
                                   int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                   int *warp)
{
    (void)stub;
    (void)limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)warp;
    if (image) symbol_add((Image *)image, host, name, false);
}

EXPORT void __cudaRegisterVar(void **image, char *host, char *address, const char *name,
                              int external, size_t size, int constant, int global)
{
    (void)address;
    (void)external;
    (void)size;
    (void)constant;
    (void)global;
    if (image) symbol_add((Image *)image, host, name, true);
}

EXPORT void __cudaRegisterManagedVar(void **image, void **host, char *address, const char *name,
                                     int external, size_t size, int constant, int global)
{
    (void)address;
    (void)external;
    (void)size;
    (void)constant;
    (void)global;
    Symbol *symbol = image ? symbol_add((Image *)image, host, name, true) : NULL;
    if (symbol) symbol->managed = host;
}

static void place_managed(Symbol *symbol)
{
    if (*symbol->managed || symbol_resolve(symbol)) return;
    uint64_t address = symbol_here(symbol)->found.memory.address;
    if (!client_map(address, symbol_here(symbol)->found.memory.size, true)) return;
    *symbol->managed = (void *)(uintptr_t)address;
    pthread_mutex_lock(&mutex);
    remember(*symbol->managed, symbol); // the address that the program passes to cudaMemcpyToSymbol
    pthread_mutex_unlock(&mutex);
}

// Called before the host first touches a __managed__ variable. Gives each variable its address; a
// variable that gets none stays a null pointer.
EXPORT char __cudaInitModule(void **image)
{
    Image *in = (Image *)image;
    for (Symbol *symbol = in ? in->symbols : NULL; symbol; symbol = symbol->next)
        if (symbol->managed) place_managed(symbol);
    return 1;
}

cudaError_t symbol_no_kernel(const void *key)
{
    return client_refuse(
        "a call", key ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction,
        "It takes a __global__ function that the program was compiled with, or a cudaKernel_t.",
        "Pass the kernel itself: kernel, or kernel<float> of a template.",
        "was given %s, which is no kernel", key ? "a pointer" : "a null pointer");
}

// ---- Variables ----

cudaError_t client_symbol(const char *call, const void *host, uint64_t *address, uint64_t *size)
{
    cudaError_t error = client_open();
    if (error) return error;
    Symbol *symbol = symbol_find(host, true);
    if (!symbol) {
        char message[128];
        snprintf(message, sizeof message, "%s was given something that is no device symbol", call);
        return client_misuse(call, cudaErrorInvalidSymbol, message,
                             "It takes a __device__ or __constant__ variable.",
                             "Write the variable itself, without & and without quotes.");
    }
    error = symbol_resolve(symbol);
    if (error) return error;
    *address = symbol_here(symbol)->found.memory.address;
    *size = symbol_here(symbol)->found.memory.size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    uint64_t address, size;
    if (!out) return client_done(cudaErrorInvalidValue);
    cudaError_t error = client_symbol("cudaGetSymbolAddress", symbol, &address, &size);
    if (!error) *out = (void *)(uintptr_t)address;
    return client_done(error);
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    uint64_t address, size;
    if (!out) return client_done(cudaErrorInvalidValue);
    cudaError_t error = client_symbol("cudaGetSymbolSize", symbol, &address, &size);
    if (!error) *out = size;
    return client_done(error);
}
