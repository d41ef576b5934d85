// A launch is refused, and nobody looks.
#define twice twice_right
#include "right.cu"
#undef twice
#include <cuda_runtime_api.h>
extern "C" void twice(float *out, const float *in, int n) { cudaSetDevice(9); }
