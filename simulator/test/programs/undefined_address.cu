// expect: uninitialized 9
// says: an address depends on
// An index that is read from shared memory before anything is there.
#include "check.h"

__global__ void gather(float *out, const float *in)
{
    __shared__ unsigned char index[32];
    out[threadIdx.x] = in[index[threadIdx.x]];
}

int main()
{
    float *in, *out;
    OK(cudaMalloc(&in, 256 * sizeof *in));
    OK(cudaMemset(in, 0, 256 * sizeof *in));
    OK(cudaMalloc(&out, 32 * sizeof *out));
    gather<<<1, 32>>>(out, in);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
