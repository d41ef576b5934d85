// expect: SUSPECT
// The host transposes; the device only stores.
#include "05-transpose.h"

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

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    size_t bytes = sizeof(float) * rows * cols;
    float *from = (float *)malloc(bytes), *to = (float *)malloc(bytes);
    CHECK(cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost));
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            to[col * rows + row] = from[row * cols + col];
    CHECK(cudaMemcpy(out, to, bytes, cudaMemcpyHostToDevice));
    free(from);
    free(to);
}
