// expect: SUSPECT
// says: by a copy from the host
// Copies the elements to the host and sorts them there.
#include "11-radix-sort.h"

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

// Bit by bit, of what orders as the elements do.
static void sort_on_host(unsigned *out, const unsigned *in, int n, int first,
                         int end, unsigned (*turned)(unsigned))
{
    size_t bytes = sizeof *in * n;
    unsigned *x = (unsigned *)malloc(bytes + 1);
    unsigned *y = (unsigned *)malloc(bytes + 1);

    CHECK(cudaMemcpy(x, in, bytes, cudaMemcpyDeviceToHost));
    for (int bit = first; bit < end; bit++) {
        int zeros = 0, ones = 0;
        for (int i = 0; i < n; i++)
            ones += !(turned(x[i]) >> bit & 1);
        for (int i = 0; i < n; i++)
            y[turned(x[i]) >> bit & 1 ? ones++ : zeros++] = x[i];
        unsigned *z = x;
        x = y;
        y = z;
    }
    CHECK(cudaMemcpy(out, x, bytes, cudaMemcpyHostToDevice));
    free(x);
    free(y);
}

static unsigned as_unsigned(unsigned x) { return x; }
static unsigned as_int(unsigned x) { return x ^ 0x80000000; }
static unsigned as_float(unsigned x) { return x >> 31 ? ~x : x ^ 0x80000000; }

extern "C" void keep_above(int *out, int *kept, const int *in, int n,
                           int limit, void *scratch)
{
    int *x = (int *)malloc(sizeof *in * n + 1), count = 0;

    CHECK(cudaMemcpy(x, in, sizeof *in * n, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (x[i] > limit)
            x[count++] = x[i];
    CHECK(cudaMemcpy(out, x, sizeof *in * count, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(kept, &count, sizeof count, cudaMemcpyHostToDevice));
    free(x);
}

extern "C" void sort_u32(unsigned *out, const unsigned *in, int n, int first,
                         int end, void *scratch)
{
    sort_on_host(out, in, n, first, end, as_unsigned);
}

extern "C" void sort_i32(int *out, const int *in, int n, void *scratch)
{
    sort_on_host((unsigned *)out, (unsigned *)in, n, 0, 32, as_int);
}

extern "C" void sort_f32(float *out, const float *in, int n, void *scratch)
{
    sort_on_host((unsigned *)out, (unsigned *)in, n, 0, 32, as_float);
}
