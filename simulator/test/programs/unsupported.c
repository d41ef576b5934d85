// expect: unsupported 9
// says: cudaMallocArray is not supported
#include "check.h"
int main(void)
{
    cudaArray_t array;
    struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    OK(cudaGetLastError());
    CHECK(cudaMallocArray(&array, &format, 4, 4, 0) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaDeviceSynchronize());
    return 0;
}
