// expect: api 13, exit 99
// says: a grid of 1x1x70001 blocks has more than 65535 of them in z
// A launch is refused, the program looks at the error and ends: the device says what was wrong with it.
#include "check.h"

__global__ void nothing() {}

int main()
{
    // Looked at, and the program goes on: there is nothing to say.
    nothing<<<1, 2048>>>();
    if (cudaGetLastError() != cudaErrorInvalidValue) return 2;
    nothing<<<dim3(1, 1, 70001), 32>>>();
    OK(cudaGetLastError());
    return 0;
}
