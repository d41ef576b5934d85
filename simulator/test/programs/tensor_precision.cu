// expect: exit 0
// prints: bf16 rounding 0.179, sums 0.000497|half rounding 0.0211, sums 0.000523|half rounding 0.0211, sums in half 0.383
// What rounding the factors to 16 bits costs, and what adding them up on Tensor Cores does: the largest error of 64 x 64 sums of
// 4,096 products of numbers between -1 and 1, beside sums in double of what the numbers were and of what they became. Lesson 17
// quotes these figures.
#include <cmath>
#include <cuda_bf16.h>
#include <mma.h>
#include "check.h"
using namespace nvcuda;

enum { SIDE = 64, DEPTH = 4096 };

template <typename T, typename S>
__global__ void multiply(S *c, const T *a, const T *b)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, S> sum;
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fill_fragment(sum, S(0.0f));
    for (int p = 0; p < DEPTH; p += 16) {
        wmma::load_matrix_sync(fa, a + row * DEPTH + p, DEPTH);
        wmma::load_matrix_sync(fb, b + p * SIDE + col, SIDE);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * SIDE + col, sum, SIDE, wmma::mem_row_major);
}

static float x[SIDE * DEPTH], y[DEPTH * SIDE];

static float next()
{
    static unsigned state = 17;
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) / (1 << 23) - 1;
}

template <typename T, typename S>
static void measure(const char *type, const char *sums)
{
    T *a, *b;
    S *c;
    OK(cudaMallocManaged(&a, sizeof(T) * SIDE * DEPTH));
    OK(cudaMallocManaged(&b, sizeof(T) * SIDE * DEPTH));
    OK(cudaMallocManaged(&c, sizeof(S) * SIDE * SIDE));
    for (int i = 0; i < SIDE * DEPTH; i++) a[i] = T(x[i]), b[i] = T(y[i]);
    multiply<<<dim3(4, 4), 32>>>(c, a, b);
    OK(cudaDeviceSynchronize());
    double rounding = 0, adding = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double was = 0, became = 0;
            for (int p = 0; p < DEPTH; p++) {
                was += (double)x[i * DEPTH + p] * y[p * SIDE + j];
                became += (double)(float)a[i * DEPTH + p] * (float)b[p * SIDE + j];
            }
            rounding = fmax(rounding, fabs(became - was));
            adding = fmax(adding, fabs((double)(float)c[i * SIDE + j] - became));
        }
    printf("%s rounding %.3g, %s %.3g\n", type, rounding, sums, adding);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
}

int main()
{
    for (float &v : x) v = next();
    for (float &v : y) v = next();
    measure<__nv_bfloat16, float>("bf16", "sums");
    measure<half, float>("half", "sums");
    measure<half, half>("half", "sums in half");
    return 0;
}
