// Images (fat binaries and libraries) and the symbols in them (kernels and variables), for the rooms
// that launch kernels and reach variables.
#pragma once
#include "client.h"

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

// The kernel or the variable of that host pointer or handle; NULL: there is none.
Symbol *symbol_find(const void *key, bool variable);

// A further symbol of the image; `host` may be NULL. NULL: no memory.
Symbol *symbol_add(Image *image, const void *host, const char *name, bool variable);

// The device's answer about a symbol, asked for once.
cudaError_t symbol_resolve(Symbol *symbol);

void image_unwrap(Image *image, const void *data);      // data: a wrapper, a fat binary or PTX
cudaError_t image_load(Image *image);           // sends it to the device, once
void image_free(Image *image);                  // forgets it and its symbols
