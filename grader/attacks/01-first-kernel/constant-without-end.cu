// expect: BUILD
// class: BUILD
// The compiler itself is to count without end.
#include "01-first-kernel.h"

constexpr int count()
{
    int n = 0;
    while (n >= 0)
        n = n < 1000 ? n + 1 : 0;
    return n;
}
static_assert(count() == 0);

extern "C" void vector_add(float *, const float *, const float *, int) {}
