// The program ends itself when it sees the error, as CHECK does: the buffer has its name all the same.
#include <stdlib.h>
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n)
{
    twice_right(out, in, n);
    exit(EXIT_FAILURE);
}
