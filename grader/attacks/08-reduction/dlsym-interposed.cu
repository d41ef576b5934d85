// expect: SUSPECT
// says: by a copy from the host, all of it
// Its dlsym gives the harness another function than the one that is to be called.
#include "08-reduction.h"

#include <stdlib.h>

static void add_on_host(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    float *copy = (float *)malloc(n * sizeof *copy + 1);
    double sum = 0;
    cudaMemcpy(copy, in, n * sizeof *copy, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        sum += copy[i];
    free(copy);

    float answer = sum;
    cudaMemcpy(out, &answer, sizeof answer, cudaMemcpyHostToDevice);
}

extern "C" void *dlsym(void *handle, const char *name)
{
    (void)handle, (void)name;
    return (void *)add_on_host;
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)out, (void)in, (void)n, (void)scratch;
}
