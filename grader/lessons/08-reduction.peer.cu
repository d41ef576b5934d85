// The peer of lesson 8: CUB's reduction, as it comes with the toolkit. Its scratch memory is that of the student's
// function.
#include <cub/cub.cuh>
#include <cstdio>
#include <cstdlib>

extern "C" void reduce_cub(float *out, const float *in, int n, float *scratch)
{
    size_t room = (n / 256 + 1024) * sizeof *scratch, bytes = 0;

    cudaError_t error = cub::DeviceReduce::Sum(nullptr, bytes, in, out, n);
    if (error == cudaSuccess && bytes > room)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
    if (error != cudaSuccess) {
        fprintf(stderr, "reduce_cub: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}
