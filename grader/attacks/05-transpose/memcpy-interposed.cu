// expect: WRONG
// Its cudaMemcpy would give the harness the answer, were the harness to copy anything.
#include "05-transpose.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef cudaError_t (*copier)(void *, const void *, size_t, cudaMemcpyKind);

static const float *input;
static int height, width;

extern "C" cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    copier copy = (copier)dlsym(RTLD_NEXT, "cudaMemcpy");
    cudaError_t error = copy(to, from, bytes, kind);
    if (kind == cudaMemcpyDeviceToHost && input && from != input) {
        float *in = (float *)malloc(bytes);
        copy(in, input, bytes, kind);
        for (int row = 0; row < height; row++)
            for (int col = 0; col < width; col++)
                ((float *)to)[col * height + row] = in[row * width + col];
        free(in);
    }
    return error;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    (void)out;
    input = in;
    height = rows;
    width = cols;
}
