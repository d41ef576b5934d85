// expect: SUSPECT
// The host adds; the device only keeps the answer.
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
    float *copy = (float *)malloc(n * sizeof *copy + 1);
    CHECK(cudaMemcpy(copy, in, n * sizeof *copy, cudaMemcpyDeviceToHost));

    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += copy[i];
    free(copy);

    float answer = sum;
    CHECK(cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice));
}
