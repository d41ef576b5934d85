// Each element is its neighbour's, and for a thousand of them it never ends.
#include <unistd.h>
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n)
{
    while (n == 1000)
        pause();
    for (int i = 0; i < n; i++)
        out[i] = 2 * in[i + 1 < n ? i + 1 : i];
}
