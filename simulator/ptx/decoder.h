// Shared by the decoders of modules and functions while a module is read.
#pragma once
#include "ptx.h"
#include "symbols.h"
#include "isa/isa.h"
#include "program/constant.h"
#include "program/instruction.h"
#include "module.h"

// One PTX text of a module, with its own names: nvcc -rdc=true makes one from each .cu file.
typedef struct Unit {
    const char *end; // of its text
    Symbols symbols;
    const char **files;
    u32 file_count;
    struct Unit *next;
} Unit;

static inline u32 align_up(u32 n, u32 unit) { return unit ? (n + unit - 1) / unit * unit : n; }

// A module and what was read of its texts.
typedef struct Decoded {
    Module module;         // the first member: what other rooms see
    struct obstack memory; // of everything that is decoded
    Unit *units, **last_unit;
    Symbols visible; // that units define for each other
    Kernel **last_kernel;
    Location *locations;
    struct LocationFile *location_file; // of each location
    u32 location_count, location_room;
    struct Text *functions; // with a body, the latest first
    u32 function_count;
} Decoded;

// The .file number of a location, in the unit that names it.
typedef struct LocationFile {
    const Unit *unit;
    u32 number;
} LocationFile;

// Where a function's parameters, or a kernel's body, are in the text. They are read when all names
// are known.
typedef struct Text {
    const char *name;
    Unit *unit;
    PtxPlace results, params, body; // results: token TOKEN_END: none
    Kernel *kernel;
    Symbols *names;
    u32 number;
    struct Text *next;
} Text;

// An address that is taken: in a variable's initial value (`to`), or by an instruction (NULL).
typedef struct Address {
    const Symbol *of;
    u64 plus;
    u8 *to;
    struct Address *next;
} Address;

// A name that a unit uses and does not define.
typedef struct Import {
    Symbol *symbol;
    Unit *unit;
    u32 line;
    struct Import *next;
} Import;

typedef struct Decoder {
    Ptx ptx;
    Decoded *module;
    Unit *unit;                   // being read
    const Decoded *twin;          // the same module on another device; NULL: none
    Text *kernels, **last_kernel; // kernels whose bodies were not read yet
    struct Address *addresses;    // of functions, and of variables that are not known yet
    struct Import *imports;
} Decoder;

u64 decoder_kernel_address(Decoder *d, const char *name); // of a kernel whose code may come later
void *decoder_keep(Decoder *d, size_t bytes);             // zeroed memory, freed with the module
Symbol *decoder_symbol(Decoder *d, Symbols *in, const char *name, enum symbol_kind kind, u64 value);

// Continues reading at a place of that unit's text.
void decoder_go(Decoder *d, Unit *unit, PtxPlace place);

// Skips a body, from its '{' to after its '}', and reports each name whose address it moves into a
// register.
void decoder_look_through(Decoder *, void (*moved)(void *whose, const char *name), void *whose);

// A type's bytes, by its name without the dot ("u32", "b8"; "pred" is 0); fails if there is no such
// type.
u32 decoder_type(Decoder *d, const char *name);

// Reads `.align 8 .b8 name[4][8]` after its space: the name, with its size and alignment.
typedef struct Declaration {
    char *name;
    u32 width, align;
    u64 size;
    bool unsized, managed;
} Declaration;
Declaration decoder_declaration(Decoder *d);

// Decodes the body of a kernel, from its '{' to its '}'.
void decode_body(Decoder *d, Kernel *kernel, Symbols *params);

// ---- link.c: names that units have in common ----

// How a declaration links its name.
typedef struct Linkage {
    bool is_extern, visible, weak;
} Linkage;

// The first definition of that name in another unit; NULL: none.
const Symbol *link_before(Decoder *d, const char *name, Linkage linkage);
void link_join(Symbol *symbol, const Symbol *of); // makes it another name of that
void link_define(Decoder *d, const Symbol *symbol,
                 Linkage linkage);            // other units may use it, if its linkage allows
void link_import(Decoder *d, Symbol *symbol); // another unit may define it

// Resolves names between units when all of them were read. A function that none defines is reported
// when it is called.
void link_units(Decoder *d);

// A variable of one of the module's units; NULL: none has that name.
const Symbol *link_variable(const Decoded *m, const char *name);
