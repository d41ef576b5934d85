// expect: api 9
// says: the kernel never ran
#include "check.h"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 2048>>>();
    OK(cudaDeviceSynchronize());
    return 0;
}
