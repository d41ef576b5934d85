// expect: BOUNDS 22
// Reads the other devices' memory without leave.
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

__global__ void add(float *sum, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] += x[i];
}

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(out[0], in[0], n * sizeof(float), cudaMemcpyDeviceToDevice));
    for (int d = 1; d < devices && n > 0; d++)
        add<<<(n + 255) / 256, 256>>>(out[0], in[d], n);
    CHECK(cudaDeviceSynchronize());
    for (int d = 1; d < devices; d++)
        CHECK(cudaMemcpyPeer(out[d], d, out[0], 0, n * sizeof(float)));
}
