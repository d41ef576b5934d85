// expect: uninitialized 35, uninitialized 57
// says: a branch depends on a value that was read from memory that nothing wrote
// Rows and columns that nothing wrote, beside those that something did: only elements of the product that depend on them are
// undefined. The tiles have 12 rows of a and 12 columns of b that are defined, of 16.
#include <mma.h>
#include <cuda_bf16.h>
#include "check.h"
using namespace nvcuda;

// Puts a and b into shared memory; b's rows along k.
__device__ void fill(__nv_bfloat16 a[16][24], __nv_bfloat16 b[16][24])
{
    for (int i = threadIdx.x; i < 12 * 16; i += 32) {
        a[i / 16][i % 16] = __float2bfloat16(i % 7 - 3);
        b[i % 16][i / 16] = __float2bfloat16(i % 5 - 2);
    }
    __syncwarp();
}

__global__ void fragments(int *out, bool all)
{
    __shared__ __align__(128) __nv_bfloat16 a[16][24], b[16][24];
    __shared__ __align__(128) float c[16][16];
    fill(a, b);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1);
    wmma::load_matrix_sync(fa, a[0], 24);
    wmma::load_matrix_sync(fb, b[0], 24);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c[0], fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 144; i += 32) if (c[i / 12][i % 12] > 3) atomicAdd(out, 1);
    if (all && c[12][threadIdx.x % 16] > 3) atomicAdd(out, 1);
}

__global__ void registers(int *out, bool all)
{
    __shared__ __align__(128) __nv_bfloat16 a[16][24], b[16][24];
    fill(a, b);
    unsigned x[4], y[4], lane = threadIdx.x;
    float d[2][4] = {};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"((unsigned)__cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                 : "r"((unsigned)__cvta_generic_to_shared(&b[lane % 16][lane / 16 * 8])));
    for (int j = 0; j < 2; j++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * j]), "r"(y[2 * j + 1]));
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + i / 2 * 8, col = j * 8 + lane % 4 * 2 + i % 2;
            if (row < 12 && col < 12 && d[j][i] > 3) atomicAdd(out, 1);
        }
    if (all && lane / 4 == 4 && d[0][2] > 3) atomicAdd(out, 1);
}

int main()
{
    int *out;
    OK(cudaMallocManaged(&out, sizeof *out));
    for (int all = 0; all < 2; all++) {
        fragments<<<1, 32>>>(out, all);
        registers<<<1, 32>>>(out, all);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaFree(out));
    return 0;
}
