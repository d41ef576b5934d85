// expect: SUSPECT
// The host filters; the device only stores.
#include "07-stencil.h"

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

enum { BLOCK_X = 32, BLOCK_Y = 8 };  // threads of a block
enum { MAX_SIDE = 2 * MAX_RADIUS + 1 };

extern "C" void convolve(float *out, const float *in, int width, int height,
                         const float *weights, int radius)
{
    if (width == 0 || height == 0)
        return;
    size_t bytes = sizeof(float) * width * height;
    float *from = (float *)malloc(bytes), *to = (float *)malloc(bytes);
    CHECK(cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float *weight = weights;
            float sum = 0;
            for (int dy = -radius; dy <= radius; dy++)
                for (int dx = -radius; dx <= radius; dx++) {
                    int row = y + dy < 0 ? 0 : y + dy < height ? y + dy : height - 1;
                    int col = x + dx < 0 ? 0 : x + dx < width ? x + dx : width - 1;
                    sum += *weight++ * from[row * width + col];
                }
            to[y * width + x] = sum;
        }
    CHECK(cudaMemcpy(out, to, bytes, cudaMemcpyHostToDevice));
    free(from);
    free(to);
}
