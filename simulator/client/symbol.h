// Images (fat binaries and libraries) and their symbols (kernels and variables), for launches and
// accesses to variables.
#pragma once
#include "client.h"

// A fat binary or a library.
typedef struct Image {
    const void *data;
    size_t bytes;
    const void *const *parts; // nvcc -rdc=true: further fat binaries; NULL ends them
    void *joined;             // a block that the image owns: all of them, or a copy (image_keep)
    struct {
        bool loaded;
        cudaError_t error; // why this device refused it
        uint64_t id;       // 0: not loaded
    } on[WIRE_DEVICES];
    struct Symbol *symbols;
} Image;

// A kernel or a variable on a device.
typedef struct {
    bool resolved;
    cudaError_t error;
    WireReply found; // kernel: .kernel; variable: .memory
    size_t dynamic_limit;
    int carveout;        // the preferred carveout plus 1; 0: not set
    uint32_t cluster[3]; // blocks of the clusters that its launches must have; 0: unspecified
    int policy;
    bool not_portable; // its clusters may have more than 8 blocks
} Resolved;

typedef struct Symbol { // a kernel or a variable of an image
    struct Symbol *next;
    Image *image;
    const void *host; // the stub, or the host's shadow of the variable
    char *name;
    bool variable;
    bool mapped;    // the host shares a library's managed variable
    void **managed; // where the host keeps a __managed__ variable's address
    Resolved on[WIRE_DEVICES];
    WireParameter *parameters; // the same on all devices
} Symbol;

// The current device's data of the symbol.
static inline Resolved *symbol_here(Symbol *symbol) { return &symbol->on[client_device()]; }

// The kernel or variable of that host pointer or handle; NULL: none.
Symbol *symbol_find(const void *key, bool variable);

// Tells that a call's `key` is no kernel, and returns its error.
cudaError_t symbol_no_kernel(const void *key);

// Adds a symbol to the image; `host` may be NULL. NULL: out of memory.
Symbol *symbol_add(Image *image, const void *host, const char *name, bool variable);

// Asks the current device about the symbol, once; the reply is in symbol_here()->found.
cudaError_t symbol_resolve(Symbol *symbol);

void image_unwrap(Image *image, const void *data); // data: a wrapper, a fat binary or PTX
cudaError_t image_load(Image *image);              // sends it to the current device, once
bool image_keep(Image *image);          // once it is loaded: copies it, so that its data may change
cudaError_t image_unload(Image *image); // unloads it from all devices
void image_free(Image *image);          // frees it and its symbols
