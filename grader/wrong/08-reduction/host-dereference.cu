// expect: CRASH 23
// The host adds through a device pointer.
#include "08-reduction.h"

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

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i];
    float answer = sum;
    CHECK(cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice));
}
