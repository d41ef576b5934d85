// Libraries: modules that the program loads at run time. The handle of a library is the address of
// its Image.

#include "symbol.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                       enum cudaJitOption *options, void **values, unsigned count,
                                       enum cudaLibraryOption *library_options,
                                       void **library_values, unsigned library_count)
{
    (void)options;
    (void)values;
    (void)count; // for the JIT compiler: optimisation level, logs
    (void)library_options;
    (void)library_values;
    (void)library_count;
    if (!library || !code) return client_done(cudaErrorInvalidValue);
    Image *image = calloc(1, sizeof *image);
    if (!image) return client_done(cudaErrorMemoryAllocation);
    image_unwrap(image, code);
    cudaError_t error = image_load(image);
    if (!error && !image_keep(image)) error = cudaErrorMemoryAllocation;
    if (error) {
        image_free(image);
        return client_done(error);
    }
    *library = (cudaLibrary_t)image;
    return cudaSuccess;
}

// The whole file, with a 0 at its end; NULL: it cannot be read.
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = bytes >= 0 ? calloc(1, (size_t)bytes + 1) : NULL;
    if (text
        && (fseek(file, 0, SEEK_SET) || fread(text, 1, (size_t)bytes, file) != (size_t)bytes)) {
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                           enum cudaJitOption *options, void **values,
                                           unsigned count, enum cudaLibraryOption *library_options,
                                           void **library_values, unsigned library_count)
{
    char *text = path ? read_file(path) : NULL;
    if (!text) return client_done(path ? cudaErrorFileNotFound : cudaErrorInvalidValue);
    if (!*text) {
        free(text);
        return client_done(cudaErrorInvalidKernelImage);
    }
    cudaError_t error = cudaLibraryLoadData(library, text, options, values, count, library_options,
                                            library_values, library_count);
    free(text);
    return error;
}

EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    if (!library) return client_done(cudaErrorInvalidResourceHandle);
    Image *image = (Image *)library;
    cudaError_t error = image_unload(image);
    image_free(image);
    return client_done(error);
}

static cudaError_t library_symbol(cudaLibrary_t library, const char *name, bool variable,
                                  Symbol **out)
{
    if (!library || !name) return library ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    Image *image = (Image *)library;
    for (Symbol *symbol = image->symbols; symbol; symbol = symbol->next) {
        if (symbol->variable == variable && strcmp(symbol->name, name) == 0) {
            *out = symbol;
            return symbol_resolve(symbol);
        }
    }
    *out = symbol_add(image, NULL, name, variable);
    return *out ? symbol_resolve(*out) : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                        const char *name)
{
    Symbol *symbol;
    if (!kernel) return client_done(cudaErrorInvalidValue);
    cudaError_t error = library_symbol(library, name, false, &symbol);
    if (!error) *kernel = (cudaKernel_t)symbol;
    return client_done(error);
}

// The name of the library's kernel with that number. *count: the number of kernels.
static cudaError_t kernel_name(const char *call, cudaLibrary_t library, unsigned number,
                               unsigned *count, char name[WIRE_TAIL + 1])
{
    WireRequest request = client_request(WIRE_KERNEL_NAME, call);
    WireReply reply;
    cudaError_t error = image_load((Image *)library);
    if (error) return error;
    request.name.module = ((Image *)library)->on[client_device()].id;
    request.name.number = number;
    error = client_call(&request, NULL, 0, &reply, name, WIRE_TAIL);
    if (!error) {
        *count = reply.kernel.count;
        name[reply.tail] = 0;
    }
    return error;
}

EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    char name[WIRE_TAIL + 1];
    if (!count || !library)
        return client_done(count ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    return client_done(kernel_name("cudaLibraryGetKernelCount", library, 0, count, name));
}

EXPORT cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room,
                                               cudaLibrary_t library)
{
    char name[WIRE_TAIL + 1];
    unsigned count = room;
    if (!kernels || !library)
        return client_done(kernels ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    for (unsigned i = 0; i < room && i < count; i++) {
        Symbol *symbol;
        cudaError_t error = kernel_name("cudaLibraryEnumerateKernels", library, i, &count, name);
        if (!error && i < count) error = library_symbol(library, name, false, &symbol);
        if (error) return client_done(error);
        if (i < count) kernels[i] = (cudaKernel_t)symbol;
    }
    return cudaSuccess;
}

// A managed variable is also mapped in the program.
static cudaError_t variable(void **address, size_t *bytes, cudaLibrary_t library, const char *name,
                            bool managed)
{
    Symbol *symbol;
    cudaError_t error =
        address || bytes ? library_symbol(library, name, true, &symbol) : cudaErrorInvalidValue;
    if (error) return error;
    const WireReply *found = &symbol_here(symbol)->found;
    void *p = (void *)(uintptr_t)found->memory.address;
    if (managed && !client_is_managed(p)) return cudaErrorSymbolNotFound;
    if (managed && !symbol->mapped && !client_map(found->memory.address, found->memory.size, true))
        return cudaErrorMemoryAllocation;
    symbol->mapped |= managed;
    if (address) *address = p;
    if (bytes) *bytes = found->memory.size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
                                        const char *name)
{
    return client_done(variable(address, bytes, library, name, false));
}

EXPORT cudaError_t cudaLibraryGetManaged(void **address, size_t *bytes, cudaLibrary_t library,
                                         const char *name)
{
    return client_done(variable(address, bytes, library, name, true));
}
