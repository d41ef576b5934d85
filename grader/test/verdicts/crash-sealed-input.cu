// Writes to a host input, which is mapped read-only.
#define turn turn_right
#include "right.cu"
#undef turn
extern "C" void turn(int *out, const int *in, int rows, int cols, long long pitch, float scale, double bias)
{
    turn_right(out, in, rows, cols, pitch, scale, bias);
    ((int *)in)[3] = 7;
}
