// Copies instead of turning.
#define turn turn_right
#include "right.cu"
#undef turn
extern "C" void turn(int *out, const int *in, int rows, int cols, long long pitch, float scale, double bias)
{
    for (int i = 0; i < rows * cols; i++)
        out[i] = in[i];
}
