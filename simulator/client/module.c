// Kernels and variables: what nvcc's start-up code registers, and launching. A fat binary goes to
// the device, whole, when something in it is first used.

#include "client.h"
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum {
    WRAPPER_MAGIC = 0x466243B1,                 // fatbinary_section.h
    FAT_MAGIC = (int)0xBA55ED50,
    ELF_MAGIC = 0x464C457F,
    MAX_PARAMETERS = WIRE_TAIL / sizeof(WireParameter),
    FIRST_DYNAMIC_SHARED = 48 << 10,            // more needs cudaFuncSetAttribute first
};

typedef struct {
    int magic, version;
    const void *data;
    void *more;
} Wrapper;

typedef struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;                             // after the header
} FatHeader;

// What a fat binary or a library holds; `error` says why the device did not take it.
typedef struct Image {
    const void *data;
    size_t bytes;
    bool loaded, relocatable;
    cudaError_t error;
    uint64_t id;
    struct Symbol *symbols;
} Image;

typedef struct Symbol {                         // a kernel or a variable of an image
    struct Symbol *next;
    Image *image;
    const void *host;                           // the stub, or the host's shadow of the variable
    char *name;
    bool variable, resolved;
    void **managed;                     // where the host keeps a __managed__ variable's address
    cudaError_t error;
    WireReply found;                            // kernel: .kernel; variable: .memory
    WireParameter *parameters;
    size_t dynamic_limit;
} Symbol;

typedef struct { const void *key; Symbol *symbol; } Entry;

static void *by_pointer;                        // a tree of Entry: host pointers and handles
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const Entry *)a)->key, y = (uintptr_t)((const Entry *)b)->key;
    return x < y ? -1 : x > y;
}

static void remember(const void *key, Symbol *symbol)
{
    Entry *entry = malloc(sizeof *entry);
    if (!entry)
        return;
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
    if (!found)
        return;
    Entry *entry = *found;
    tdelete(&wanted, &by_pointer, compare);
    free(entry);
}

static Symbol *find_symbol(const void *key, bool variable)
{
    Entry wanted = { key, NULL };
    pthread_mutex_lock(&mutex);
    Entry **found = tfind(&wanted, &by_pointer, compare);
    Symbol *symbol = found ? (*found)->symbol : NULL;
    pthread_mutex_unlock(&mutex);
    return symbol && symbol->variable == variable ? symbol : NULL;
}

static Symbol *add_symbol(Image *image, const void *host, const char *name, bool variable)
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
    symbol->dynamic_limit = FIRST_DYNAMIC_SHARED;
    pthread_mutex_lock(&mutex);
    symbol->next = image->symbols;
    image->symbols = symbol;
    if (host)
        remember(host, symbol);
    remember(symbol, symbol);
    pthread_mutex_unlock(&mutex);
    return symbol;
}

static void free_image(Image *image)
{
    pthread_mutex_lock(&mutex);
    for (Symbol *next, *symbol = image->symbols; symbol; symbol = next) {
        next = symbol->next;
        forget(symbol);
        if (symbol->host)
            forget(symbol->host);
        if (symbol->managed && *symbol->managed)
            forget(*symbol->managed);
        free(symbol->parameters);
        free(symbol->name);
        free(symbol);
    }
    pthread_mutex_unlock(&mutex);
    free(image);
}

// How many bytes an image has: a fat binary says it itself, PTX text ends with a 0.
static bool measure(Image *image)
{
    const FatHeader *header = image->data;
    if (header->magic == (uint32_t)FAT_MAGIC)
        image->bytes = header->header_bytes + header->bytes;
    else if (header->magic == ELF_MAGIC)
        return false;
    else
        image->bytes = strlen(image->data);
    return image->bytes > 0;
}

static void unwrap(Image *image, const void *data)
{
    image->data = data;
    const Wrapper *wrapper = data;
    if (wrapper->magic == WRAPPER_MAGIC) {
        image->data = wrapper->data;
        image->relocatable = wrapper->version == 2;
    }
}

static void fill_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const Image *image = context;
    memcpy(slot, (const char *)image->data + offset, bytes);
}

static cudaError_t load_now(Image *image)
{
    if (image->relocatable)
        return client_unsupported("-rdc=true (relocatable device code)");
    if (!measure(image))
        return client_unsupported("a native (ELF) image without PTX");
    WireRequest request = client_request(WIRE_MODULE, "the loading of a module");
    WireReply reply;
    cudaError_t error = client_transfer(&request, &request.module.chunk, image->bytes, fill_slot,
                                        NULL, image, &reply);
    image->id = reply.id;
    return error;
}

static cudaError_t load(Image *image)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return error ? error : client_sticky();
    if (!image->loaded)
        image->error = load_now(image);
    image->loaded = true;
    return image->error;
}

static cudaError_t resolve_now(Symbol *symbol)
{
    enum wire_op op = symbol->variable ? WIRE_VARIABLE : WIRE_KERNEL;
    WireRequest request = client_request(op, symbol->variable ? "a symbol" : "a launch");
    request.name.module = symbol->image->id;
    WireParameter parameters[MAX_PARAMETERS];
    cudaError_t error = client_call(&request, symbol->name, strlen(symbol->name), &symbol->found,
                                    parameters, sizeof parameters);
    if (error || symbol->variable)
        return error;
    size_t bytes = symbol->found.kernel.count * sizeof *parameters;
    if (bytes > sizeof parameters || bytes > symbol->found.tail)
        return cudaErrorUnknown;
    symbol->parameters = malloc(bytes + 1);
    if (!symbol->parameters)
        return cudaErrorMemoryAllocation;
    memcpy(symbol->parameters, parameters, bytes);
    return cudaSuccess;
}

// The device's answer about a symbol, asked for once.
static cudaError_t resolve(Symbol *symbol)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    if (symbol->resolved && !client_sticky())
        return symbol->error;
    cudaError_t error = client_open();          // in a forked child the mutex may be held for ever
    if (error)
        return error;
    pthread_mutex_lock(&once);
    error = load(symbol->image);
    if (!error && !symbol->resolved) {
        symbol->error = resolve_now(symbol);
        symbol->resolved = !client_sticky();
    }
    pthread_mutex_unlock(&once);
    return error ? error : symbol->error;
}

// What nvcc's code calls before main().

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    Image *image = calloc(1, sizeof *image);
    if (image)
        unwrap(image, wrapper);
    return (void **)image;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **image)
{
    (void)image;
}

EXPORT void __cudaUnregisterFatBinary(void **image)
{
    // The program is ending: its device ends with it.
    if (image)
        free_image((Image *)image);
}

EXPORT void __cudaRegisterFunction(void **image, const char *host, char *stub, const char *name,
                                   int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                   int *warp)
{
    (void)stub; (void)limit; (void)tid; (void)bid; (void)block; (void)grid; (void)warp;
    if (image)
        add_symbol((Image *)image, host, name, false);
}

EXPORT void __cudaRegisterVar(void **image, char *host, char *address, const char *name,
                              int external, size_t size, int constant, int global)
{
    (void)address; (void)external; (void)size; (void)constant; (void)global;
    if (image)
        add_symbol((Image *)image, host, name, true);
}

EXPORT void __cudaRegisterManagedVar(void **image, void **host, char *address, const char *name,
                                     int external, size_t size, int constant, int global)
{
    (void)address; (void)external; (void)size; (void)constant; (void)global;
    Symbol *symbol = image ? add_symbol((Image *)image, host, name, true) : NULL;
    if (symbol)
        symbol->managed = host;
}

static void place_managed(Symbol *symbol)
{
    if (*symbol->managed || resolve(symbol))
        return;
    uint64_t address = symbol->found.memory.address;
    if (!client_map(address, symbol->found.memory.size, true))
        return;
    *symbol->managed = (void *)(uintptr_t)address;
    pthread_mutex_lock(&mutex);
    remember(*symbol->managed, symbol);         // what cudaMemcpyToSymbol is given of it
    pthread_mutex_unlock(&mutex);
}

// Before the host first touches a __managed__ variable: gives each its address. One that gets none
// stays a null pointer.
EXPORT char __cudaInitModule(void **image)
{
    Image *in = (Image *)image;
    for (Symbol *symbol = in ? in->symbols : NULL; symbol; symbol = symbol->next)
        if (symbol->managed)
            place_managed(symbol);
    return 1;
}

// The configuration between <<< and >>>, from its evaluation to the stub's launch.
static __thread struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[16];
static __thread int pushed_count;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                            cudaStream_t stream)
{
    if (pushed_count == sizeof pushed / sizeof *pushed)
        return 1;                               // the stub is not called then
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream)
{
    if (!pushed_count)
        return client_done(cudaErrorMissingConfiguration);
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(cudaStream_t *)stream = pushed[pushed_count].stream;
    return cudaSuccess;
}

static size_t pack(const Symbol *symbol, void **arguments, char *block)
{
    size_t total = symbol->found.kernel.bytes;
    if (total > WIRE_TAIL)
        return SIZE_MAX;
    memset(block, 0, total);
    for (uint32_t i = 0; i < symbol->found.kernel.count; i++) {
        WireParameter p = symbol->parameters[i];
        if (p.offset > total || p.size > total - p.offset)
            return SIZE_MAX;
        memcpy(block + p.offset, arguments[i], p.size);
    }
    return total;
}

static cudaError_t launch(const char *call, const void *key, dim3 grid, dim3 block,
                          void **arguments, size_t shared, cudaStream_t stream, bool unchecked)
{
    cudaError_t error = client_open();
    if (error)
        return error;
    Symbol *symbol = find_symbol(key, false);
    if (!symbol)
        return cudaErrorInvalidDeviceFunction;
    error = resolve(symbol);
    if (error)
        return error;
    char parameters[WIRE_TAIL];
    size_t bytes = pack(symbol, arguments, parameters);
    if (bytes == SIZE_MAX)
        return cudaErrorInvalidValue;
    WireRequest request = client_request(WIRE_LAUNCH, call);
    request.stream = client_stream(stream);
    request.launch.kernel = symbol->found.kernel.id;
    memcpy(request.launch.grid, &grid, sizeof request.launch.grid);
    memcpy(request.launch.block, &block, sizeof request.launch.block);
    request.launch.dynamic_shared = shared;
    request.launch.dynamic_limit = symbol->dynamic_limit;
    request.launch.unchecked = unchecked;
    WireReply reply;
    return client_call(&request, parameters, bytes, &reply, NULL, 0);
}

EXPORT cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    Symbol *symbol = find_symbol(host, false);
    if (!kernel || !symbol)
        return client_done(kernel ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)symbol;
    return cudaSuccess;
}

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return cudaGetKernel(kernel, host);
}

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream)
{
    cudaError_t error = launch("a launch", kernel, grid, block, arguments, shared, stream, true);
    if (error)
        client_unchecked();
    return client_done(error);
}
TWIN(__cudaLaunchKernel, __cudaLaunchKernel_ptsz);

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream)
{
    return client_done(
        launch("cudaLaunchKernel", kernel, grid, block, arguments, shared, stream, false));
}
TWIN(cudaLaunchKernel, cudaLaunchKernel_ptsz);

// The attributes that only tell the hardware how to go about the same work.
static bool is_hint(const cudaLaunchAttribute *attribute)
{
    switch (attribute->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return true;
    case cudaLaunchAttributeCooperative:
        return !attribute->val.cooperative;
    case cudaLaunchAttributeClusterDimension:
        return attribute->val.clusterDim.x * attribute->val.clusterDim.y
            * attribute->val.clusterDim.z <= 1;
    default:
        return false;
    }
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments)
{
    if (!config)
        return client_done(cudaErrorInvalidValue);
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (!is_hint(&config->attrs[i]))
            return client_unsupported("cudaLaunchKernelEx with clusters or cooperation");
    return client_done(launch("cudaLaunchKernelEx", kernel, config->gridDim, config->blockDim,
                              arguments, config->dynamicSmemBytes, config->stream, false));
}
TWIN(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz);

EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *key)
{
    Symbol *symbol = find_symbol(key, false);
    cudaError_t error = client_open();
    if (error || !out)
        return client_done(error ? error : cudaErrorInvalidValue);
    if (!symbol)
        return client_done(cudaErrorInvalidDeviceFunction);
    error = resolve(symbol);
    if (error)
        return client_done(error);
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = symbol->found.kernel.shared_bytes,
        .localSizeBytes = symbol->found.kernel.local_bytes,
        .maxThreadsPerBlock = (int)symbol->found.kernel.max_threads,
        .numRegs = (int)symbol->found.kernel.registers,     // 0 without native code
        .ptxVersion = (int)symbol->found.kernel.ptx_version,
        .binaryVersion = client_facts()->major * 10 + client_facts()->minor,
        .maxDynamicSharedSizeBytes = (int)symbol->dynamic_limit,
        .preferredShmemCarveout = -1,
    };
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetAttribute(const void *key, enum cudaFuncAttribute attribute,
                                        int value)
{
    Symbol *symbol = find_symbol(key, false);
    cudaError_t error = client_open();
    if (error || !symbol)
        return client_done(error ? error : cudaErrorInvalidDeviceFunction);
    error = resolve(symbol);
    if (error)
        return client_done(error);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value >= -1 && value <= 100 ? cudaSuccess : client_done(cudaErrorInvalidValue);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return client_unsupported("cudaFuncSetAttribute with a cluster attribute");
    int most = client_facts()->shared_per_block_optin - (int)symbol->found.kernel.shared_bytes;
    if (value < 0 || value > most)
        return client_done(cudaErrorInvalidValue);
    symbol->dynamic_limit = (size_t)value;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetCacheConfig(const void *key, enum cudaFuncCache config)
{
    (void)config;                               // a preference only
    return client_done(find_symbol(key, false) ? client_sticky() : cudaErrorInvalidDeviceFunction);
}

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *key)
{
    Symbol *symbol = find_symbol(key, false);
    if (!name || !symbol)
        return client_done(name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *name = symbol->name;
    return cudaSuccess;
}

cudaError_t client_symbol(const char *call, const void *host, uint64_t *address, uint64_t *size)
{
    cudaError_t error = client_open();
    if (error)
        return error;
    Symbol *symbol = find_symbol(host, true);
    if (!symbol) {
        char message[128];
        snprintf(message, sizeof message, "%s was given something that is no device symbol", call);
        return client_misuse(call, cudaErrorInvalidSymbol, message,
                             "It takes a __device__ or __constant__ variable.",
                             "Write the variable itself, without & and without quotes.");
    }
    error = resolve(symbol);
    if (error)
        return error;
    *address = symbol->found.memory.address;
    *size = symbol->found.memory.size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    uint64_t address, size;
    if (!out)
        return client_done(cudaErrorInvalidValue);
    cudaError_t error = client_symbol("cudaGetSymbolAddress", symbol, &address, &size);
    if (!error)
        *out = (void *)(uintptr_t)address;
    return client_done(error);
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    uint64_t address, size;
    if (!out)
        return client_done(cudaErrorInvalidValue);
    cudaError_t error = client_symbol("cudaGetSymbolSize", symbol, &address, &size);
    if (!error)
        *out = size;
    return client_done(error);
}

// Libraries: modules that the program loads itself. A handle is its Image.

EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                       enum cudaJitOption *options, void **values, unsigned count,
                                       enum cudaLibraryOption *library_options,
                                       void **library_values, unsigned library_count)
{
    (void)options; (void)values; (void)count;   // how hard to optimise, where to log
    (void)library_options; (void)library_values; (void)library_count;
    if (!library || !code)
        return client_done(cudaErrorInvalidValue);
    Image *image = calloc(1, sizeof *image);
    if (!image)
        return client_done(cudaErrorMemoryAllocation);
    unwrap(image, code);
    cudaError_t error = load(image);
    if (error) {
        free_image(image);
        return client_done(error);
    }
    *library = (cudaLibrary_t)image;
    return cudaSuccess;
}

EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    if (!library)
        return client_done(cudaErrorInvalidResourceHandle);
    Image *image = (Image *)library;
    WireRequest request = client_request(WIRE_MODULE_UNLOAD, "cudaLibraryUnload");
    request.object.id = image->id;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    free_image(image);
    return client_done(error);
}

static cudaError_t library_symbol(cudaLibrary_t library, const char *name, bool variable,
                                  Symbol **out)
{
    if (!library || !name)
        return cudaErrorInvalidValue;
    Image *image = (Image *)library;
    for (Symbol *symbol = image->symbols; symbol; symbol = symbol->next) {
        if (symbol->variable == variable && strcmp(symbol->name, name) == 0) {
            *out = symbol;
            return resolve(symbol);
        }
    }
    *out = add_symbol(image, NULL, name, variable);
    return *out ? resolve(*out) : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                        const char *name)
{
    Symbol *symbol;
    if (!kernel)
        return client_done(cudaErrorInvalidValue);
    cudaError_t error = library_symbol(library, name, false, &symbol);
    if (!error)
        *kernel = (cudaKernel_t)symbol;
    return client_done(error);
}

EXPORT cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
                                        const char *name)
{
    Symbol *symbol;
    cudaError_t error = library_symbol(library, name, true, &symbol);
    if (error)
        return client_done(error);
    if (address)
        *address = (void *)(uintptr_t)symbol->found.memory.address;
    if (bytes)
        *bytes = symbol->found.memory.size;
    return cudaSuccess;
}
