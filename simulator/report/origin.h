// Finds the source line of a host address in the program's debug information.
#pragma once
#include "base/base.h"
#include "report.h"

// Opens process `pid`: reads its memory map now, and its files when they are needed.
void origin_open(int pid);
void origin_close(void);

// What stands for the code of a process that owns memory on the program's devices (wire.h), as a
// caller and as a Place's object.
#define ORIGIN_OWNER "owner"

enum { ORIGIN_CALLERS = 8 }; // the most return addresses of a call that are examined

// The program's own line of a call. `callers`: its return addresses, innermost first; 0 ends them.
// The line is that of the first address in code with debug information that is neither in a launch
// stub nor inlined from the toolkit's headers. False: unknown (compiled without -g);
// place->function may still name the function, mangled. In either case place->object and ->address
// are those of the innermost caller. The strings live until origin_close(). Thread-safe.
bool origin_place(const u64 *callers, size_t count, Place *place);

// What lies at an address of the program's own memory.
enum origin_memory {
    ORIGIN_NOTHING,
    ORIGIN_VTABLE,
    ORIGIN_FUNCTION,
    ORIGIN_VARIABLE,
    ORIGIN_HEAP,
    ORIGIN_STACK,
    ORIGIN_MEMORY // anything else
};

// *name: of a vtable's class, a function or a variable, malloc'ed; otherwise NULL. Thread-safe.
enum origin_memory origin_memory(u64 address, char **name);

// The innermost caller alone, as place->object and ->address: that takes a hundredth of the time.
void origin_caller(const u64 *callers, Place *place);
