// expect: unsupported 8
// says: cudaGraphCreate is not supported
#include "check.h"
int main(void)
{
    cudaGraph_t graph;
    OK(cudaGetLastError());
    CHECK(cudaGraphCreate(&graph, 0) == cudaErrorNotSupported);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaDeviceSynchronize());
    return 0;
}
