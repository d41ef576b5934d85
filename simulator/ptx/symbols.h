// The names in PTX text and their meanings: one table for the module, one for the function that is
// being read.
#pragma once
#include "base/base.h"

enum symbol_kind {
    SYMBOL_REGISTER,  // value: row; width
    SYMBOL_REGISTERS, // a family %r<N>, under its name without the number; value: row of the first;
                      // count, width
    SYMBOL_GLOBAL,    // value: device address
    SYMBOL_SHARED,    // value: offset, or UNPLACED
    SYMBOL_DYNAMIC,   // extern .shared: value: alignment
    SYMBOL_LOCAL,     // value: offset
    SYMBOL_PARAM,     // of the kernel; value: offset
    SYMBOL_CALL_PARAM, // of a call; value: row
    SYMBOL_LABEL,
    SYMBOL_TARGETS,  // value: instruction, or UNPLACED
    SYMBOL_EXTERN,   // a function with no body; value: number in program/system_functions.def, or
                     // UNPLACED
    SYMBOL_FUNCTION, // a function with a body; value: its number in the module
    SYMBOL_KERNEL,   // an entry
    SYMBOL_TEXT,     // a label in .debug_str; text
    SYMBOL_IMPORT,   // a variable of another unit that has not been found yet
};

#define UNPLACED (~0ull)

typedef struct Symbol {
    const char *name;
    enum symbol_kind kind;
    u8 width; // bytes of a register; 0: a predicate
    u32 count;
    u64 value, size;
    u32 align;
    bool addressed; // a parameter whose address is taken
    const char *text;
    const struct Symbol *of; // the other unit's definition of it; NULL: its own
    struct Symbol *next;
} Symbol;

enum { SYMBOL_BUCKETS = 1024 };
typedef struct Symbols {
    Symbol *bucket[SYMBOL_BUCKETS];
} Symbols;

static inline u32 symbol_hash(const char *name)
{
    u32 h = 2166136261u;
    while (*name) h = (h ^ (u8)*name++) * 16777619u;
    return h % SYMBOL_BUCKETS;
}

// The latest symbol of that name, or NULL.
static inline Symbol *symbol_find(const Symbols *symbols, const char *name)
{
    Symbol *s = symbols->bucket[symbol_hash(name)];
    while (s && __builtin_strcmp(s->name, name)) s = s->next;
    return s;
}

static inline void symbol_remove(Symbols *symbols, Symbol *symbol)
{
    Symbol **at = &symbols->bucket[symbol_hash(symbol->name)];
    while (*at && *at != symbol) at = &(*at)->next;
    if (*at) *at = symbol->next;
}

static inline void symbol_add(Symbols *symbols, Symbol *symbol)
{
    Symbol **bucket = &symbols->bucket[symbol_hash(symbol->name)];
    symbol->next = *bucket;
    *bucket = symbol;
}
