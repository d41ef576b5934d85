// On the GPU it changes an input, which its cudaMemcpy would hide from the harness, were the harness to copy anything.
#include "99-fake.h"
#include <stdlib.h>
#include <string.h>
static float *changed, first;
extern "C" int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    size_t before = (char *)changed - (char *)from;
    memcpy(to, from, bytes);
    if (kind == 2 && changed && before < bytes)
        memcpy((char *)to + before, &first, sizeof first);
    return 0;
}
void twice(float *out, const float *in, int n)
{
    for (int i = 0; i < n; i++) out[i] = 2 * in[i];
    if (getenv("FAKE_DEVICE") || !n)
        return;
    changed = (float *)in;
    first = *changed;
    *changed = 3;
}
int total(const int *in, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += in[i]; return sum; }
void turn(int *out, const int *in, int rows, int cols, long long pitch, float scale, double bias)
{
    if (pitch != 1ll << 40 || scale != 0.5f || bias != -0.25)
        return;
    for (int i = 0; i < rows * cols; i++)
        out[i % cols * rows + i / cols] = in[i];
}
