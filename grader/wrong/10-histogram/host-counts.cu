// expect: SUSPECT
// says: by a copy from the host
// The host counts, and sends the answer.
#include "10-histogram.h"

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

enum { BINS = 256, THREADS = 1024, BLOCKS = 264, SHARE = 32768 };

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    unsigned char *bytes = (unsigned char *)malloc(n + 1);
    int counts[BINS] = { 0 };

    CHECK(cudaMemcpy(bytes, in, n, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        counts[bytes[i]]++;
    CHECK(cudaMemcpy(bins, counts, sizeof counts, cudaMemcpyHostToDevice));
    free(bytes);
}
