// expect: exit 0
// The last launch was refused, as the program had expected: it looked at the error, and ended well.
#include "check.h"

__global__ void nothing() {}

int main()
{
    nothing<<<0, 32>>>();
    return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 2;
}
