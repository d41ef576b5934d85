// A division of integers by 0.
#define twice twice_right
#include "right.cu"
#undef twice
#include <signal.h>
extern "C" void twice(float *out, const float *in, int n) { raise(SIGFPE); }
