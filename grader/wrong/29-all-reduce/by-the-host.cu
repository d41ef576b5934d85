// expect: SLOW
// says: down to the host and up again
// Right, but all goes through the host, which adds it up.
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

extern "C" void all_reduce(float *const *out, const float *const *in,
                           int n, int devices)
{
    float *sum = (float *)calloc(n + 1, sizeof(float));
    float *x = (float *)malloc((n + 1) * sizeof(float));
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(x, in[d], n * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            sum[i] += x[i];
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(out[d], sum, n * sizeof(float), cudaMemcpyHostToDevice));
    }
    free(sum);
    free(x);
}
