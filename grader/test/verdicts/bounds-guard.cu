// Writes one element past the end of a host buffer.
#define turn turn_right
#include "right.cu"
#undef turn
extern "C" void turn(int *out, const int *in, int rows, int cols, long long pitch, float scale, double bias)
{
    turn_right(out, in, rows, cols, pitch, scale, bias);
    out[rows * cols] = 7;
}
