// expect: SUSPECT
// says: by a copy from the host
// Copies the vector to the host and scans it there.
#include "09-scan.h"

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

template <typename T>
static void scan(T *out, const T *in, int n)
{
    T *all = (T *)malloc(n * sizeof *all + 1);
    T sum = 0;

    CHECK(cudaMemcpy(all, in, n * sizeof *all, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        all[i] = sum += all[i];
    CHECK(cudaMemcpy(out, all, n * sizeof *all, cudaMemcpyHostToDevice));
    free(all);
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    (void)scratch;
    scan(out, in, n);
}
