// expect: MEMORY
// says: never freed
// Never frees the sensor, and says that its lines are those of the harness, whose allocations are not the student's.
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

#ifndef VERSION
#define VERSION 3  // 1: pages move when they are missed; 2: prefetched; 3: the sensor stays put
#endif

// Where pages can be sent. The number says which device; for the host
// it means nothing.
static const cudaMemLocation DEVICE = {cudaMemLocationTypeDevice, 0};
static const cudaMemLocation HOST = {cudaMemLocationTypeHost, 0};

// One step, one thread for each cell. The thread of the middle cell adds
// the heater's power, and leaves the new temperature in *sensor.
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

// The host's part: what the heater gives in the next step.
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
    CHECK(cudaMallocManaged(&now, bytes));
    CHECK(cudaMallocManaged(&next, bytes));
#line 80 "worker.c"
    CHECK(cudaMallocManaged(&sensor, sizeof(float)));

    if (VERSION >= 3) {
        CHECK(cudaMemAdvise(sensor, sizeof(float),
                            cudaMemAdviseSetPreferredLocation, HOST));
        CHECK(cudaMemAdvise(sensor, sizeof(float),
                            cudaMemAdviseSetAccessedBy, DEVICE));
    }

    memcpy(now, in, bytes);  // the host's own memcpy: no copy to the device
    *sensor = in[n / 2];

    if (VERSION >= 2) {
        CHECK(cudaMemPrefetchAsync(now, bytes, DEVICE, 0));
        CHECK(cudaMemPrefetchAsync(next, bytes, DEVICE, 0));
    }

    for (int s = 0; s < steps; s++) {
        float power = thermostat(*sensor);
        int blocks = (n + THREADS - 1) / THREADS;
        step<<<blocks, THREADS>>>(next, now, sensor, power, n);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());  // the host reads *sensor next

        float *old = now;
        now = next;
        next = old;
    }

    if (VERSION >= 2) {
        CHECK(cudaMemPrefetchAsync(now, bytes, HOST, 0));
        CHECK(cudaDeviceSynchronize());  // a prefetch is queued, as a launch is
    }

    memcpy(out, now, bytes);
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
}
