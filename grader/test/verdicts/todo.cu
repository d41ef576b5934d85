// A blank is left.
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n)
{
    // TODO: write 2 * in[i] to out[i], for all i below n (2 lines)
}
