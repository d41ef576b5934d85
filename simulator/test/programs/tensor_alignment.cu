// expect: misaligned 14, misaligned 16, misaligned 24
// says: a matrix of wmma whose stride is 40 bytes, which is not a multiple of 16
// says: a matrix of wmma whose address is
// says: read of 16 bytes at address 0x8, which is not a multiple of 16
// What wmma and ldmatrix want of addresses.
#include <mma.h>
#include "check.h"
using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;

__global__ void fragments(const half *in, float *out)
{
    A a, b;
    wmma::load_matrix_sync(a, in, 20);
    float sum = a.x[0];
    wmma::load_matrix_sync(b, in + 8, 24);
    out[threadIdx.x] = sum + float(b.x[0]);
}
__global__ void rows(const half *in, float *out)
{
    __shared__ __align__(128) half s[32 * 20];
    for (int i = threadIdx.x; i < 640; i += 32) s[i] = in[i];
    unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 20 + (threadIdx.x == 0 ? 4 : 0)), a;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at));
    out[threadIdx.x] = a;
}

int main()
{
    half *in;
    float *out;
    OK(cudaMallocManaged(&in, 2048));
    OK(cudaMallocManaged(&out, 128));
    fragments<<<1, 32>>>(in, out);
    OK(cudaDeviceSynchronize());
    rows<<<1, 32>>>(in, out);
    printf("%d\n", cudaDeviceSynchronize());
    return 0;
}
