// The peer, where there is no GPU.
#include <string.h>

extern "C" void copy(float *out, const float *in, long long n)
{
    memcpy(out, in, n * sizeof *out);
}
