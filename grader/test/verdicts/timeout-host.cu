// The host loops.
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n) { for (volatile int i = 0;; i++); }
