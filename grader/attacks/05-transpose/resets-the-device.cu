// expect: BOUNDS
// What it reads out of bounds is forgotten with the device, it hopes.
#include "05-transpose.h"

__global__ void look(float *out, const float *in, int n) { out[0] = in[n + threadIdx.x]; }

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    look<<<1, 32>>>(out, in, rows * cols);
    cudaDeviceSynchronize();
    cudaGetLastError();
    cudaDeviceReset();
}
