// The last block of 256 is never written.
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n)
{
    for (int i = 0; i < n / 256 * 256 || (n < 256 && i < n); i++)
        out[i] = 2 * in[i];
}
