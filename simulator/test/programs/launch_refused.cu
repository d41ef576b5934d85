// expect: api 14, exit 99
// says: a grid of 1x1x70001 blocks has more than 65535 of them in z
// A launch of a template is refused, the program looks at the error and ends: the device says what was wrong with it, and where.
#include "check.h"

template <typename T> __global__ void store(T *out) { *out = 1; }

template <typename T> static int launches(T *out)
{
    // Looked at, and the program goes on: there is nothing to say.
    store<<<1, 2048>>>(out);
    if (cudaGetLastError() != cudaErrorInvalidValue) return 2;

    store<<<dim3(1, 1, 70001), 32>>>(out);
    OK(cudaGetLastError());
    return 0;
}

int main() { return launches((float *)nullptr) + launches((int *)nullptr); }
