// expect: api 0
// says: was never shown
#include "check.h"

__global__ void say() { printf("nobody reads this\n"); }

int main()
{
    say<<<1, 1>>>();
    OK(cudaGetLastError());
    return 0;
}
