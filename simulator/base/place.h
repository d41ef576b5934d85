// A line of source.
#pragma once
#include <stdint.h>

// A place in source code. file: as the compiler recorded it; NULL: unknown.
typedef struct {
    const char *file;
    const char *function; // NULL: unknown or irrelevant
    uint32_t line;        // 0: unknown
    uint32_t column;      // from 1; 0: unknown
    const char *object;   // of host code: the path of the program or library that made the call,
    uint64_t address;     // and where the call returns to in it, as its symbols count
} Place;

enum { PLACE_CALLERS = 6 }; // the most places at which code was inlined
