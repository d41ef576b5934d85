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

//> version TODO:
#ifndef VERSION
#define VERSION 4  // 1: pages move on demand; 2: the rod prefetched; 3: next, too; 4: the sensor stays
#endif
//< version

//> places TODO:
// The places to which pages can be sent. The number is that of the
// device; for the host it has no meaning.
static const cudaMemLocation DEVICE = {cudaMemLocationTypeDevice, 0};
static const cudaMemLocation HOST = {cudaMemLocationTypeHost, 0};
//< places

//> step
// One time step, with one thread for each cell. The middle cell's thread
// adds the heater's power, and stores the new temperature in *sensor.
__global__ void step(float *next, const float *now, float *sensor,
                     float power, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    //> neighbours
    float left = now[max(i - 1, 0)];
    float right = now[min(i + 1, n - 1)];
    //< neighbours
    float t = 0.25f * left + 0.5f * now[i] + 0.25f * right;
    if (i == n / 2) {
        //> heater
        t += power;
        *sensor = t;
        //< heater
    }
    next[i] = t;
}
//< step

//> thermostat
// The host's part: returns the heater's power in the next time step.
static float thermostat(float temperature)
{
    return 0.5f * (1.0f - temperature);
}
//< thermostat

extern "C" void heat(float *out, const float *in, int n, int steps)
{
    //> empty
    if (n == 0)
        return;  // a grid of no blocks is an error
    //< empty

    //> allocate
    size_t bytes = n * sizeof(float);
    float *now = NULL, *next = NULL, *sensor = NULL;
    //> managed TODO: allocate all three, managed; sensor is one float (3 lines)
    CHECK(cudaMallocManaged(&now, bytes));
    CHECK(cudaMallocManaged(&next, bytes));
    CHECK(cudaMallocManaged(&sensor, sizeof(float)));
    //< managed
    //< allocate

    //> advise TODO:
    if (VERSION >= 4) {
        CHECK(cudaMemAdvise(sensor, sizeof(float),
                            cudaMemAdviseSetPreferredLocation, HOST));
        CHECK(cudaMemAdvise(sensor, sizeof(float),
                            cudaMemAdviseSetAccessedBy, DEVICE));
    }
    //< advise

    //> begin
    memcpy(now, in, bytes);  // the host's own memcpy: no copy to the device
    *sensor = in[n / 2];
    //< begin

    //> to-device TODO:
    if (VERSION >= 2)
        CHECK(cudaMemPrefetchAsync(now, bytes, DEVICE, 0));
    //< to-device

    //> next-ahead TODO:
    if (VERSION >= 3)
        CHECK(cudaMemPrefetchAsync(next, bytes, DEVICE, 0));
    //< next-ahead

    //> loop
    for (int s = 0; s < steps; s++) {
        //> read-sensor
        float power = thermostat(*sensor);
        //< read-sensor
        //> turn TODO: launch `step` (it makes next from now), check, wait (4 lines)
        int blocks = (n + THREADS - 1) / THREADS;
        step<<<blocks, THREADS>>>(next, now, sensor, power, n);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());  // the host reads *sensor next
        //< turn

        //> swap
        float *old = now;
        now = next;
        next = old;
        //< swap
    }
    //< loop

    //> to-host TODO:
    if (VERSION >= 2) {
        CHECK(cudaMemPrefetchAsync(now, bytes, HOST, 0));
        CHECK(cudaDeviceSynchronize());  // a prefetch is asynchronous, like a launch
    }
    //< to-host

    //> end
    //> copy-out
    memcpy(out, now, bytes);
    //< copy-out
    //> free TODO: free all three (3 lines)
    CHECK(cudaFree(now));
    CHECK(cudaFree(next));
    CHECK(cudaFree(sensor));
    //< free
    //< end
}
