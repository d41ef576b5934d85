// expect: exit 0
// Copies and fills take managed memory at either end, whatever direction they name.
#include "check.h"
#include <cstring>

enum { BYTES = 3 << 20 };

static char host[BYTES];

static bool all(const char *p, char value)
{
    for (int i = 0; i < BYTES; i++)
        if (p[i] != value)
            return false;
    return true;
}

int main()
{
    char *m, *n, *d;
    OK(cudaMallocManaged(&m, BYTES));
    OK(cudaMallocManaged(&n, BYTES));
    OK(cudaMalloc(&d, BYTES));
    memset(host, 1, BYTES);
    OK(cudaMemcpy(m, host, BYTES, cudaMemcpyHostToDevice));
    CHECK(all(m, 1));
    OK(cudaMemcpy(d, m, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemset(m, 2, BYTES));
    CHECK(all(m, 2));
    OK(cudaMemcpy(host, m, BYTES, cudaMemcpyHostToHost));
    CHECK(all(host, 2));
    OK(cudaMemcpy(n, d, BYTES, cudaMemcpyDeviceToHost));
    CHECK(all(n, 1));
    memset(n, 3, BYTES);
    OK(cudaMemcpy(m, n, BYTES, cudaMemcpyDefault));
    CHECK(all(m, 3));
    OK(cudaMemcpy(host, d, BYTES, cudaMemcpyDefault));
    CHECK(all(host, 1));

    cudaPointerAttributes of;
    OK(cudaPointerGetAttributes(&of, m + 5));
    CHECK(of.type == cudaMemoryTypeManaged && of.device == 0);
    CHECK(of.devicePointer == m + 5 && of.hostPointer == m + 5);
    OK(cudaFree(m));
    OK(cudaFree(n));
    OK(cudaFree(d));
    return 0;
}
