// expect: exit 0
// build: --compress-mode=none
#include "check.h"

__global__ void set(int *p) { *p = 42; }

int main()
{
    int *p, value = 0;
    OK(cudaMalloc(&p, sizeof value));
    set<<<1, 1>>>(p);
    OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 42);
    OK(cudaFree(p));
    return 0;
}
