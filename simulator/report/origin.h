// Where in the program's source a host address comes from: its debug information, read by the
// device.
#pragma once
#include "base/base.h"
#include "report.h"

// Looks at the process `pid`, whose memory map is read now, and its files when they are needed.
void origin_open(int pid);
void origin_close(void);

enum { ORIGIN_CALLERS = 8 }; // return addresses of a call that are looked at, at most

// The program's own line that a call came from: of the return addresses (innermost first; 0 ends
// them), the first that lies in code with debug information, less launch stubs and functions
// inlined from the toolkit's headers. False: unknown (compiled without -g); then place->function
// may still name the function, mangled. Either way place->object and ->address are the innermost
// caller's, whether it has debug information or not. The strings live until origin_close(). Any
// number of threads may ask.
bool origin_place(const u64 *callers, size_t count, Place *place);
