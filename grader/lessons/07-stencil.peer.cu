// link: -lnppif -lnppc
// Lesson 7's peer: NPP's filter, which clamps as the contract has it.
#include "07-stencil.h"

#include <cuda_runtime.h>
#include <nppi_filtering_functions.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        int error = (call);                                                \
        if (error != 0) {                                                  \
            fprintf(stderr, "%s: error %d\n", #call, error);               \
            exit(EXIT_FAILURE);                                            \
        }                                                                  \
    } while (0)

enum { WEIGHTS = (2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1) };

// What NPP wants to know of the device, asked once.
static NppStreamContext context_once(void)
{
    static NppStreamContext context;
    cudaDeviceProp device;

    if (context.nMultiProcessorCount)
        return context;
    CHECK(cudaGetDevice(&context.nCudaDeviceId));
    CHECK(cudaGetDeviceProperties(&device, context.nCudaDeviceId));
    context.nMultiProcessorCount = device.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = device.maxThreadsPerBlock;
    context.nSharedMemPerBlock = device.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = device.major;
    context.nCudaDevAttrComputeCapabilityMinor = device.minor;
    return context;
}

// NPP turns the filter by half, and wants it in the device's memory.
extern "C" void convolve_npp(float *out, const float *in, int width, int height, const float *weights, int radius)
{
    static float *on_device;
    float turned[WEIGHTS];
    int side = 2 * radius + 1, row = width * (int)sizeof(float);

    for (int i = 0; i < side * side; i++)
        turned[i] = weights[side * side - 1 - i];
    if (!on_device)
        CHECK(cudaMalloc(&on_device, sizeof turned));
    CHECK(cudaMemcpyAsync(on_device, turned, side * side * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(nppiFilterBorder_32f_C1R_Ctx(in, row, {width, height}, {0, 0}, out, row, {width, height}, on_device,
                                       {side, side}, {radius, radius}, NPP_BORDER_REPLICATE, context_once()));
}
