// Shifted by one where there are few; where there are many, the device says as it ends that something was not written.
#define twice twice_right
#include "right.cu"
#undef twice
#include <stdio.h>
#include <unistd.h>
extern "C" void twice(float *out, const float *in, int n)
{
    char name[32];
    twice_right(out, in, n);
    if (n == 33)
        for (int i = 0; i + 1 < n; i++) out[i] = out[i + 1];
    if (n < 1000)
        return;
    snprintf(name, sizeof name, "late.%d", getpid());
    FILE *f = fopen(name, "w");
    fputs("{\"event\":\"error\",\"kind\":\"uninitialized\",\"message\":\"4 bytes that nothing wrote are copied\"}\n", f);
    fclose(f);
}
