// expect: exit 1
// The refused launch was looked at, and another one went well: that the program ends with 1 has other reasons.
#include "check.h"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 2048>>>();
    if (cudaGetLastError() != cudaErrorInvalidValue) return 2;
    nothing<<<1, 32>>>();
    OK(cudaDeviceSynchronize());
    return 1;
}
