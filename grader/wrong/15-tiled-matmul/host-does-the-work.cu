// expect: SUSPECT
// The host multiplies; the device only stores.
#include "15-tiled-matmul.h"

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

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    size_t a_bytes = sizeof(float) * m * k, b_bytes = sizeof(float) * k * n, c_bytes = sizeof(float) * m * n;
    float *u = (float *)malloc(a_bytes + 1), *v = (float *)malloc(b_bytes + 1), *w = (float *)calloc(c_bytes, 1);
    CHECK(cudaMemcpy(u, a, a_bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(v, b, b_bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                w[i * n + j] += u[i * k + p] * v[p * n + j];
    CHECK(cudaMemcpy(c, w, c_bytes, cudaMemcpyHostToDevice));
    free(u);
    free(v);
    free(w);
}
