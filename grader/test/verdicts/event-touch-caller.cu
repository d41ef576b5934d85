// Right, as far as the host can see; the device reports otherwise.
#define twice twice_right
#include "right.cu"
#undef twice
extern "C" void twice(float *out, const float *in, int n) { twice_right(out, in, n); }
