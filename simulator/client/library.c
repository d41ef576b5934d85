// Libraries: modules that the program loads itself. A handle is its Image.

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
    (void)options; (void)values; (void)count;   // how hard to optimise, where to log
    (void)library_options; (void)library_values; (void)library_count;
    if (!library || !code)
        return client_done(cudaErrorInvalidValue);
    Image *image = calloc(1, sizeof *image);
    if (!image)
        return client_done(cudaErrorMemoryAllocation);
    image_unwrap(image, code);
    cudaError_t error = image_load(image);
    if (error) {
        image_free(image);
        return client_done(error);
    }
    *library = (cudaLibrary_t)image;
    return cudaSuccess;
}

// The whole file, with a 0 behind it; NULL: it cannot be read.
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long bytes = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = bytes >= 0 ? calloc(1, (size_t)bytes + 1) : NULL;
    if (text && (fseek(file, 0, SEEK_SET) || fread(text, 1, (size_t)bytes, file) != (size_t)bytes)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                           enum cudaJitOption *options, void **values,
                                           unsigned count,
                                           enum cudaLibraryOption *library_options,
                                           void **library_values, unsigned library_count)
{
    char *text = path ? read_file(path) : NULL;
    if (!text)
        return client_done(path ? cudaErrorFileNotFound : cudaErrorInvalidValue);
    cudaError_t error = cudaLibraryLoadData(library, text, options, values, count, library_options,
                                            library_values, library_count);
    if (error)
        free(text);
    else
        ((Image *)*library)->file = text;
    return error;
}

EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    if (!library)
        return client_done(cudaErrorInvalidResourceHandle);
    Image *image = (Image *)library;
    cudaError_t error = image_unload(image);
    image_free(image);
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
        *address = (void *)(uintptr_t)symbol_here(symbol)->found.memory.address;
    if (bytes)
        *bytes = symbol_here(symbol)->found.memory.size;
    return cudaSuccess;
}
