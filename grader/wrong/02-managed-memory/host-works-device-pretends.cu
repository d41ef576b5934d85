// expect: SUSPECT
// The host computes every step in managed memory; the device adds nothing, but moves pages.
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

// Where pages can be sent. The number says which device; for the host it means nothing.
static const cudaMemLocation DEVICE = {cudaMemLocationTypeDevice, 0};
static const cudaMemLocation HOST = {cudaMemLocationTypeHost, 0};

// Touches a page here and there, so that something is seen to move.
__global__ void pretend(float *rod, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rod[i] += 0.0f;
}

// The host's part: what the heater gives in the next step.
static float thermostat(float temperature)
{
    return 0.5f * (1.0f - temperature);
}

extern "C" void heat(float *out, const float *in, int n, int steps)
{
    if (n == 0)
        return;  // neither memory of 0 bytes nor a grid of no blocks is to be had

    size_t bytes = n * sizeof(float);
    float *now = NULL, *next = NULL, *sensor = NULL;
    CHECK(cudaMallocManaged(&now, bytes));
    CHECK(cudaMallocManaged(&next, bytes));
    CHECK(cudaMallocManaged(&sensor, sizeof(float)));

    memcpy(now, in, bytes);  // the host's own memcpy: no copy to the device
    *sensor = in[n / 2];

    for (int s = 0; s < steps; s++) {
        float power = thermostat(*sensor);
        for (int i = 0; i < n; i++)
            next[i] = 0.25f * now[i ? i - 1 : 0] + 0.5f * now[i]
                    + 0.25f * now[i < n - 1 ? i + 1 : i];
        next[n / 2] += power;
        *sensor = next[n / 2];

        float *old = now;
        now = next;
        next = old;
    }

    CHECK(cudaMemPrefetchAsync(now, bytes, DEVICE, 0));
    pretend<<<(n + THREADS - 1) / THREADS, THREADS>>>(now, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemPrefetchAsync(now, bytes, HOST, 0));
    CHECK(cudaDeviceSynchronize());  // a prefetch is queued, as a launch is
    memcpy(out, now, bytes);
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
    CHECK(cudaFree(sensor));
}
