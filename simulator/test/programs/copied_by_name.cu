// expect: api 13, api 14
// says: the destination is host memory, not device memory
// says: the name of a __constant__ or __device__ variable is its stand-in in host memory
// Device variables are copied as if their names were addresses on the device: they want cudaMemcpyToSymbol.
#include "check.h"

__constant__ float weights[4];
static __device__ int found;

int main()
{
    float host[4] = { 1, 2, 3, 4 };
    CHECK(cudaMemcpy(weights, host, sizeof host, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, &found, sizeof found, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    return 0;
}
