// expect: exit 0
// A linear system by LU with pivoting: a block that finds each pivot together, swaps rows and eliminates, in dynamic shared
// memory beyond 48 KiB; then a triangular solve by one warp.
#include "numbers.h"

enum { N = 80, BLOCK = 128 };

__global__ void factor(double *a, int *swaps)
{
    extern __shared__ double m[];       // N x N
    __shared__ int pivot;
    __shared__ unsigned long long best;
    int t = threadIdx.x;
    for (int k = t; k < N * N; k += BLOCK) m[k] = a[k];
    for (int step = 0; step < N; step++) {
        if (t == 0) best = 0;
        __syncthreads();
        // The largest number: its bits, with the row in the lowest.
        for (int row = step + t; row < N; row += BLOCK) {
            unsigned long long bits = (unsigned long long)__double_as_longlong(fabs(m[row * N + step]));
            atomicMax(&best, (bits & ~127ull) | (unsigned)row);
        }
        __syncthreads();
        if (t == 0) swaps[step] = pivot = (int)(best & 127);
        __syncthreads();
        if (pivot != step)
            for (int c = t; c < N; c += BLOCK) {
                double other = m[pivot * N + c];
                m[pivot * N + c] = m[step * N + c];
                m[step * N + c] = other;
            }
        __syncthreads();
        for (int row = step + 1 + t; row < N; row += BLOCK) m[row * N + step] /= m[step * N + step];
        __syncthreads();
        int left = N - step - 1;
        for (int k = t; k < left * left; k += BLOCK) {
            int row = step + 1 + k / left, c = step + 1 + k % left;
            m[row * N + c] -= m[row * N + step] * m[step * N + c];
        }
        __syncthreads();
    }
    for (int k = t; k < N * N; k += BLOCK) a[k] = m[k];
}

__global__ void solve(double *x, const double *lu, const int *swaps)
{
    int lane = threadIdx.x;
    if (lane == 0)
        for (int k = 0; k < N; k++) {
            double other = x[swaps[k]];
            x[swaps[k]] = x[k], x[k] = other;
        }
    __syncwarp();
    for (int k = 0; k < N; k++) {
        for (int row = k + 1 + lane; row < N; row += 32) x[row] -= lu[row * N + k] * x[k];
        __syncwarp();
    }
    for (int k = N - 1; k >= 0; k--) {
        if (lane == 0) x[k] /= lu[k * N + k];
        __syncwarp();
        for (int row = lane; row < k; row += 32) x[row] -= lu[row * N + k] * x[k];
        __syncwarp();
    }
}

int main()
{
    std::vector<double> a = real_numbers<double>(N * N, 161), want = real_numbers<double>(N, 162), b(N);
    a[0] = 0;       // without pivoting it ends here
    for (int row = 0; row < N; row++)
        for (int c = 0; c < N; c++) b[row] += a[row * N + c] * want[c];
    double *matrix = on_device(a), *x = on_device(b);
    int *swaps = room_for<int>(N);
    OK(cudaFuncSetAttribute(factor, cudaFuncAttributeMaxDynamicSharedMemorySize, N * N * sizeof(double)));
    factor<<<1, BLOCK, N * N * sizeof(double)>>>(matrix, swaps);
    OK(cudaGetLastError());
    solve<<<1, 32>>>(x, matrix, swaps);
    check_close(from_device(x, N), want, 1e-9);
    free_all(matrix, x, swaps);
}
