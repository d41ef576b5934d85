#include "99-fake.h"
void twice(float *out, const float *in, int n) { for (int i = 0; i < n; i++) out[i] = 2 * in[i]; }
int total(const int *in, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += in[i]; return sum; }
void turn(int *out, const int *in, int rows, int cols, long long pitch, float scale, double bias)
{
    if (pitch != 1ll << 40 || scale != 0.5f || bias != -0.25)
        return;
    for (int i = 0; i < rows * cols; i++)
        out[i % cols * rows + i / cols] = in[i];
}
/* The launch is never made: g++ stands in for nvcc here. cudaGetLastError() in a comment, first<<<1, 1>>>() too,
   reads nothing. */
#define LAUNCH twice_kernel<<<1, 1>>>(out) // cudaPeekAtLastError()
