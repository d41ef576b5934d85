// Images (fat binaries and libraries) and the symbols in them (kernels and variables), for the
// rooms that launch kernels and reach variables.
#pragma once
#include "client.h"

// What a fat binary or a library holds.
typedef struct Image {
    const void *data;
    size_t bytes;
    char *file;               // that was read for it, and is freed with it
    const void *const *parts; // nvcc -rdc=true: further fat binaries, NULL ends them
    void *joined;             // all of it in one piece; ours
    struct {
        bool loaded;
        cudaError_t error; // why this device did not take it
        uint64_t id;       // 0: it has none
    } on[WIRE_DEVICES];
    struct Symbol *symbols;
} Image;

// A kernel or a variable on a device.
typedef struct {
    bool resolved;
    cudaError_t error;
    WireReply found; // kernel: .kernel; variable: .memory
    size_t dynamic_limit;
    int carveout;        // as it was set, plus 1; 0: it was not
    uint32_t cluster[3]; // that its launches must have; 0: it does not say
    int policy;
    bool not_portable; // its clusters may have more than 8 blocks
} Resolved;

typedef struct Symbol { // a kernel or a variable of an image
    struct Symbol *next;
    Image *image;
    const void *host; // the stub, or the host's shadow of the variable
    char *name;
    bool variable;
    bool mapped;    // the host has a library's managed variable, too
    void **managed; // where the host keeps a __managed__ variable's address
    Resolved on[WIRE_DEVICES];
    WireParameter *parameters; // the same on all of them
} Symbol;

// What the current device has of it.
static inline Resolved *symbol_here(Symbol *symbol) { return &symbol->on[client_device()]; }

// The kernel or the variable of that host pointer or handle; NULL: there is none.
Symbol *symbol_find(const void *key, bool variable);

// What a call says to whom it gave no kernel.
static inline cudaError_t symbol_no_kernel(const void *key)
{
    return key ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

// A further symbol of the image; `host` may be NULL. NULL: no memory.
Symbol *symbol_add(Image *image, const void *host, const char *name, bool variable);

// The current device's answer about a symbol, asked for once.
cudaError_t symbol_resolve(Symbol *symbol);

void image_unwrap(Image *image, const void *data); // data: a wrapper, a fat binary or PTX
cudaError_t image_load(Image *image);              // sends it to the current device, once
cudaError_t image_unload(Image *image);            // takes it from all devices
void image_free(Image *image);                     // forgets it and its symbols
