// link: -lm
// A library's function, where there is no GPU: told to be wrong in the case named for that. It needs what it links.
#include "99-fake.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" void twice_fast(float *out, const float *in, int n)
{
    const char *now = getenv("FAKE_CASE");
    double power = now && strcmp(now, "gpu-peer-wrong") == 0 ? 0 : 1;
    for (int i = 0; i < n; i++)
        out[i] = ldexp(in[i], (int)pow(power, n));
}
