// expect: exit 0
// Softmax of the rows of a matrix: in three passes by a block, and in one pass by a warp that mends its sum when it meets a new
// maximum; numbers are floats, halves and bfloat16s.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "numbers.h"

enum { ROWS = 7, COLUMNS = 150, BLOCK = 64 };

template <typename T> __global__ void by_block(T *out, const T *in)
{
    __shared__ float s[BLOCK];
    const T *row = in + blockIdx.x * COLUMNS;
    int t = threadIdx.x;
    float most = -INFINITY, sum = 0;
    for (int c = t; c < COLUMNS; c += BLOCK) most = fmaxf(most, (float)row[c]);
    s[t] = most;
    __syncthreads();
    for (int half = BLOCK / 2; half; half /= 2) {
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    for (int c = t; c < COLUMNS; c += BLOCK) sum += expf((float)row[c] - most);
    s[t] = sum;
    __syncthreads();
    for (int half = BLOCK / 2; half; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    for (int c = t; c < COLUMNS; c += BLOCK) out[blockIdx.x * COLUMNS + c] = T(expf((float)row[c] - most) / s[0]);
}

template <typename T> __global__ void by_warp(T *out, const T *in)
{
    const T *row = in + blockIdx.x * COLUMNS;
    float most = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < COLUMNS; c += 32) {
        float x = (float)row[c], higher = fmaxf(most, x);
        sum = sum * __expf(most - higher) + __expf(x - higher);
        most = higher;
    }
    for (int half = 16; half; half /= 2) {
        float other = __shfl_xor_sync(~0u, most, half), more = __shfl_xor_sync(~0u, sum, half), higher = fmaxf(most, other);
        sum = sum * __expf(most - higher) + more * __expf(other - higher);
        most = higher;
    }
    for (int c = threadIdx.x; c < COLUMNS; c += 32) out[blockIdx.x * COLUMNS + c] = T(__expf((float)row[c] - most) / sum);
}

template <typename T> void try_type(double tolerance)
{
    std::vector<float> reals = real_numbers<float>(ROWS * COLUMNS, 131);
    std::vector<T> host(reals.size());
    std::vector<double> want(reals.size());
    for (size_t k = 0; k < reals.size(); k++) host[k] = T(8 * reals[k]);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < COLUMNS; c++) sum += want[r * COLUMNS + c] = exp((double)(float)host[r * COLUMNS + c]);
        for (int c = 0; c < COLUMNS; c++) want[r * COLUMNS + c] /= sum;
    }
    T *in = on_device(host), *out = room_for<T>(host.size());
    for (int way = 0; way < 2; way++) {
        if (way) by_warp<<<ROWS, 32>>>(out, in);
        else by_block<<<ROWS, BLOCK>>>(out, in);
        std::vector<T> got = from_device(out, host.size());
        std::vector<float> as_float(got.size());
        for (size_t k = 0; k < got.size(); k++) as_float[k] = (float)got[k];
        check_close(as_float, want, tolerance);
    }
    free_all(in, out);
}

int main()
{
    try_type<float>(1e-6);
    try_type<__half>(1e-3);
    try_type<__nv_bfloat16>(4e-3);
}
