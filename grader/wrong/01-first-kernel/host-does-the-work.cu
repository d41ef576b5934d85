// expect: SUSPECT
// The right answer, but no GPU had a part in it.
#include "01-first-kernel.h"

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
