// expect: exit 0
// Copies of many chunks, odd sizes, every way there is; every byte is compared.
#include "check.h"
#include <string.h>

static unsigned next(unsigned *state)
{
    return *state = *state * 1664525u + 1013904223u;
}

static void round_trip(size_t bytes)
{
    unsigned char *from = malloc(bytes + 1), *to = malloc(bytes + 1), *a, *b;
    unsigned state = 1;
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(next(&state) >> 24);
    OK(cudaMalloc((void **)&a, bytes));
    OK(cudaMalloc((void **)&b, bytes));
    OK(cudaMemcpy(a, from, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
    memset(to, 0, bytes);
    OK(cudaMemcpy(to, b, bytes, cudaMemcpyDeviceToHost));
    CHECK(memcmp(from, to, bytes) == 0);
    OK(cudaFree(a));
    OK(cudaFree(b));
    free(from);
    free(to);
}

int main(void)
{
    static const size_t sizes[] = { 1, 31, 4096, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 9437189 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(sizes[i]);
    return 0;
}
