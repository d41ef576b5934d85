// NaN is no wildcard.
#define twice twice_right
#include "right.cu"
#undef twice
#include <math.h>
extern "C" void twice(float *out, const float *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = NAN;
}
