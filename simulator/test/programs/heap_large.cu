// expect: exit 0
// A heap of gigabytes: what kernels allocate there is all there, from end to end, and apart; and no bytes are an address to be freed.
#include "check.h"

enum { COUNT = 4 };

__device__ const unsigned long long bytes[COUNT] = { 150u << 20, 150u << 20, 400u << 20, 0 };

__global__ void use(int *wrong)
{
    char *p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        p[i] = (char *)malloc(bytes[i]);
        if (!p[i]) *wrong = 1;
        else if (bytes[i]) p[i][0] = p[i][bytes[i] - 1] = (char)(i + 1);
    }
    for (int i = 0; i < COUNT && !*wrong; i++)
        if (bytes[i] && (p[i][0] != i + 1 || p[i][bytes[i] - 1] != i + 1)) *wrong = 2;
    for (int i = 0; i < COUNT; i++) free(p[i]);
}

int main()
{
    int *wrong, seen;
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2ull << 30));
    OK(cudaMalloc(&wrong, sizeof *wrong));
    OK(cudaMemset(wrong, 0, sizeof *wrong));
    use<<<1, 1>>>(wrong);
    OK(cudaMemcpy(&seen, wrong, sizeof seen, cudaMemcpyDeviceToHost));
    OK(cudaFree(wrong));
    return seen;
}
