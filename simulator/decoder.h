// What the module's and the function's decoder share while a module is read.
#pragma once
#include "ptx.h"
#include "symbols.h"
#include "warp.h"

struct Module {
    struct obstack memory;          // everything decoded lies here
    Symbols symbols;
    Kernel *kernels, **last_kernel;
    Location *locations;
    u32 *location_file;             // .file number of each location
    u32 location_count, location_room;
    const char **files;
    u32 file_count;
};

typedef struct Decoder {
    Ptx ptx;
    Module *module;
} Decoder;

void *decoder_keep(Decoder *d, size_t bytes);                       // zeroed, freed with the module
Symbol *decoder_symbol(Decoder *d, Symbols *in, const char *name, enum symbol_kind kind, u64 value);

// A type's bytes by its name without the dot ("u32", "b8", "pred" is 0); fails on what is none.
u32 decoder_type(Decoder *d, const char *name);

// `.align 8 .b8 name[4][8]` behind its space: the name, with its size and alignment.
typedef struct Declaration { char *name; u32 width, align; u64 size; bool unsized, managed; } Declaration;
Declaration decoder_declaration(Decoder *d);

// The body of a kernel, from its '{' to its '}'.
void decode_body(Decoder *d, Kernel *kernel, Symbols *params);
