// expect: SUSPECT
// says: by a copy from the host, all of it
// Its ffi_call stands in for libffi's, by which the harness makes the call.
#include "05-transpose.h"

#include <stdlib.h>

extern "C" void ffi_call(void *cif, void (*function)(void), void *result, void **argument)
{
    float *out = *(float **)argument[0];
    const float *in = *(const float **)argument[1];
    int rows = *(int *)argument[2], cols = *(int *)argument[3];
    size_t bytes = sizeof(float) * rows * cols;
    float *from = (float *)malloc(bytes + 1), *to = (float *)malloc(bytes + 1);

    (void)cif, (void)function, (void)result;
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols; col++)
            to[col * rows + row] = from[row * cols + col];
    cudaMemcpy(out, to, bytes, cudaMemcpyHostToDevice);
    free(from);
    free(to);
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    (void)out, (void)in, (void)rows, (void)cols;
}
