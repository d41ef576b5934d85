// expect: uninitialized 8
// says: a branch depends on
// A counter that nobody set to zero.
#include "check.h"

__global__ void count(int *counter, int *out)
{
    if (counter[0] > 3) {
        for (int i = 0; i < 100; i++) out[i] = i;
    }
}

int main()
{
    int *counter, *out;
    OK(cudaMalloc(&counter, sizeof *counter));
    OK(cudaMalloc(&out, 100 * sizeof *out));
    count<<<1, 1>>>(counter, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(counter));
    OK(cudaFree(out));
    return 0;
}
