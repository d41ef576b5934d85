// expect: exit 0
// prints: 5 6 31
// __managed__ variables have one address on both sides, and their initialisers.
#include "check.h"

__managed__ int total = 5;
__managed__ float squares[100];

__global__ void work()
{
    squares[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        total++;
}

int main()
{
    printf("%d ", total);
    work<<<1, 64>>>();
    OK(cudaDeviceSynchronize());
    printf("%d %g\n", total, squares[31]);
    total = 7;
    work<<<1, 64>>>();
    OK(cudaDeviceSynchronize());
    CHECK(total == 8);
    int seven = 17;
    OK(cudaMemcpyToSymbol(total, &seven, sizeof seven));
    CHECK(total == 17);
    return 0;
}
