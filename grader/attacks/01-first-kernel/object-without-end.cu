// class: BUILD
// Its object file has four gigabytes.
#include "01-first-kernel.h"

char large[4000000000] = { 1 };

extern "C" void vector_add(float *, const float *, const float *, int) {}
