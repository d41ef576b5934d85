// expect: leak 9
// Resetting the device frees what was not: a leak as well.
#include "check.h"

int main(void)
{
    void *p;
    size_t free_bytes, total;
    OK(cudaMalloc(&p, 1000));
    OK(cudaDeviceReset());
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == total);
    return 0;
}
