// expect: BUILD
// class: BUILD
// It has a main() of its own.
#include "01-first-kernel.h"

int main() { return 0; }

extern "C" void vector_add(float *, const float *, const float *, int) {}
