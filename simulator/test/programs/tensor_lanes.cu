// expect: barrier 12
// says: wmma.load.a.m16n16k16.f16 is run by 16 threads of a warp, and wants all 32
// A fragment is a whole warp's: half a warp cannot load one.
#include <mma.h>
#include "check.h"
using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;

__global__ void half_warp(const half *in, float *out)
{
    A a;
    if (threadIdx.x < 16) wmma::load_matrix_sync(a, in, 16);
    out[threadIdx.x] = a.x[0];
}
int main()
{
    half *in;
    float *out;
    OK(cudaMallocManaged(&in, 512));
    OK(cudaMallocManaged(&out, 128));
    half_warp<<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
