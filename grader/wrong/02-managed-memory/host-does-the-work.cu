// expect: SUSPECT
// The right answer, but no GPU had a part in it.
#include "02-managed-memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The host's part: what the heater gives in the next step.
static float thermostat(float temperature)
{
    return 0.5f * (1.0f - temperature);
}

extern "C" void heat(float *out, const float *in, int n, int steps)
{
    if (n == 0)
        return;  // neither memory of 0 bytes nor a grid of no blocks is to be had

    double *now = (double *)malloc(2 * n * sizeof(double)), *next = now + n;
    for (int i = 0; i < n; i++)
        now[i] = in[i];
    for (int s = 0; s < steps; s++) {
        float power = thermostat(now[n / 2]);
        for (int i = 0; i < n; i++)
            next[i] = 0.25 * now[i ? i - 1 : 0] + 0.5 * now[i] + 0.25 * now[i < n - 1 ? i + 1 : i];
        next[n / 2] += power;
        double *old = now;
        now = next;
        next = old;
    }
    for (int i = 0; i < n; i++)
        out[i] = now[i];
    free(now < next ? now : next);
}
