// The answer is right, but the input is not as it was.
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n)
{
    twice_right(out, in, n);
    if (n > 5)
        ((float *)in)[5] = 0;
}
