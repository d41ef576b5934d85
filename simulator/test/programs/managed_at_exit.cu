// expect: race 17, leak 15
// The program ends without another call: what it touched last counts as well, and its kernel runs.
// prints: 0
#include "check.h"

__global__ void fill(int *p)
{
    p[threadIdx.x] = 7;
}

int main()
{
    int *p;
    cudaFree(0);
    OK(cudaMallocManaged(&p, 64 * sizeof *p));
    p[3] = 0;
    fill<<<1, 64>>>(p);
    printf("%d\n", p[3]);
    return 0;
}
