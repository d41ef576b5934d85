// expect: PROTOCOL
// class: PROTOCOL
// A constructor ends well before anything was asked.
#include "01-first-kernel.h"

#include <unistd.h>

static __attribute__((constructor)) void end(void) { _exit(0); }

extern "C" void vector_add(float *, const float *, const float *, int) {}
