// A launch is refused, whose error is looked at; and then another call, whose error is not.
#define twice twice_right
#include "right.cu"
#undef twice
#include <cuda_runtime_api.h>
extern "C" void twice(float *out, const float *in, int n) { cudaSetDevice(9); }
