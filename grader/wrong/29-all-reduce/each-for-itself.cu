// expect: WRONG
// says: Every device must have the same bits
// Every device adds up everything for itself, beginning with its own: their sums are rounded otherwise.
#include "29-all-reduce.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

struct Arrays {
    const float *of[8];
};

__global__ void add_all(float *out, Arrays in, int n, int device, int devices)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = in.of[device][i];
    for (int d = 1; d < devices; d++)
        sum += in.of[(device + d) % devices][i];
    out[i] = sum;
}

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    Arrays all;
    int count;
    CHECK(cudaGetDeviceCount(&count));
    for (int d = 0; d < devices; d++)
        all.of[d] = in[d];
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
        for (int other = 0; other < count; other++)
            if (other != d)
                cudaDeviceEnablePeerAccess(other, 0);
        cudaGetLastError();
    }
    for (int d = 0; d < devices && n > 0; d++) {
        CHECK(cudaSetDevice(d));
        add_all<<<(n + 255) / 256, 256>>>(out[d], all, n, d, devices);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
}
