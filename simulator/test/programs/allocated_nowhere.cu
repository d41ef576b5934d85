// expect: api 13, api 14, api 15, api 16
// says: cudaMalloc was given a null pointer to write the new address to
// says: cudaMallocManaged was given a null pointer to write the new address to
// says: cudaMallocHost was given a null pointer to write the new address to
// says: cudaMallocAsync was given a null pointer to write the new address to
// An allocation is given the pointer itself, not its address: the error of each says so.
#include "check.h"

int main()
{
    float *a = NULL;

    CHECK(cudaMalloc((void **)a, 16) == cudaErrorInvalidValue);
    CHECK(cudaMallocManaged((void **)a, 16) == cudaErrorInvalidValue);
    CHECK(cudaMallocHost((void **)a, 16) == cudaErrorInvalidValue);
    CHECK(cudaMallocAsync((void **)a, 16, 0) == cudaErrorInvalidValue);
    return 0;
}
