// A line of source.
#pragma once
#include <stdint.h>

// A place in somebody's source. file is as the compiler recorded it; NULL: unknown.
typedef struct {
    const char *file;
    const char *function; // NULL: unknown or of no interest
    uint32_t line;        // 0: unknown
    uint32_t column;      // from 1; 0: unknown
    const char *object;   // of host code: the program or library that made the call, a whole path;
    uint64_t address;     // and where the call returns to there, as its symbols have it
} Place;

enum { PLACE_CALLERS = 6 }; // places that code was inlined at, at most
