// Lesson 2: heat spreads along a rod. The device computes each time step. Between two of them, the
// host sets the power of a heater.
//
// Both work on managed memory: it has one pointer for both sides, and a page moves to the side that
// touches it.
#include "02-managed-memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 256 };

// One time step, with one thread for each cell. The middle cell's thread
// adds the heater's power, and stores the new temperature in *sensor.
__global__ void step(float *next, const float *now, float *sensor,
                     float power, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    float left = now[max(i - 1, 0)];
    float right = now[min(i + 1, n - 1)];
    float t = 0.25f * left + 0.5f * now[i] + 0.25f * right;
    if (i == n / 2) {
        t += power;
        *sensor = t;
    }
    next[i] = t;
}

// The host's part: returns the heater's power in the next time step.
static float thermostat(float temperature)
{
    return 0.5f * (1.0f - temperature);
}

extern "C" void heat(float *out, const float *in, int n, int steps)
{
    if (n == 0)
        return;  // a grid of no blocks is an error

    size_t bytes = n * sizeof(float);
    float *now = NULL, *next = NULL, *sensor = NULL;
    // TODO: allocate all three, managed; sensor is one float (3 lines)

    memcpy(now, in, bytes);  // the host's own memcpy: no copy to the device
    *sensor = in[n / 2];

    for (int s = 0; s < steps; s++) {
        float power = thermostat(*sensor);
        // TODO: launch `step` (it makes next from now), check, wait (4 lines)

        float *old = now;
        now = next;
        next = old;
    }

    memcpy(out, now, bytes);
    // TODO: free all three (3 lines)
}
