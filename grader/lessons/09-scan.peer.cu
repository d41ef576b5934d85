// The peer of lesson 9: CUB's scan, as it comes with the toolkit. It keeps what its tiles say of themselves in the same
// scratch memory as the student's function.
#include <cub/cub.cuh>
#include <cstdio>
#include <cstdlib>

extern "C" void scan_cub(int *out, const int *in, int n, void *scratch)
{
    size_t room = n / 8 + 16384, bytes = 0;

    cudaError_t error = cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
    if (error == cudaSuccess && bytes > room)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
    if (error != cudaSuccess) {
        fprintf(stderr, "scan_cub: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}
