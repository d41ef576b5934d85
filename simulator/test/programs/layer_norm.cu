// expect: exit 0
// Layer normalisation by Welford's running mean and variance, merged over the lanes; and the same on pairs of halves.
#include <cuda_fp16.h>

#include "numbers.h"

enum { ROWS = 9, COLUMNS = 96 };

struct Moments { float mean, squares, count; };

__device__ Moments merge(Moments a, Moments b)
{
    float count = a.count + b.count, apart = b.mean - a.mean;
    return { a.mean + apart * (b.count / count), a.squares + b.squares + apart * apart * (a.count * b.count / count), count };
}

__global__ void normalise(float *out, const float *in, const float *__restrict__ scale, const float *__restrict__ shift)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= ROWS) return;
    Moments m = { 0, 0, 0 };
    for (int c = lane; c < COLUMNS; c += 32) {
        float x = in[row * COLUMNS + c], apart = x - m.mean;
        m.count += 1, m.mean += apart / m.count, m.squares += apart * (x - m.mean);
    }
    for (int half = 16; half; half /= 2)
        m = merge(m, { __shfl_xor_sync(~0u, m.mean, half), __shfl_xor_sync(~0u, m.squares, half),
                       __shfl_xor_sync(~0u, m.count, half) });
    float inverse = rsqrtf(m.squares / COLUMNS + 1e-5f);
    for (int c = lane; c < COLUMNS; c += 32)
        out[row * COLUMNS + c] = (in[row * COLUMNS + c] - m.mean) * inverse * scale[c] + shift[c];
}

__global__ void normalise_pairs(__half2 *out, const __half2 *in)
{
    int row = blockIdx.x, lane = threadIdx.x, pairs = COLUMNS / 2;
    float sum = 0, squares = 0;
    for (int c = lane; c < pairs; c += 32) {
        float2 x = __half22float2(in[row * pairs + c]);
        sum += x.x + x.y, squares += x.x * x.x + x.y * x.y;
    }
    for (int half = 16; half; half /= 2)
        sum += __shfl_down_sync(~0u, sum, half), squares += __shfl_down_sync(~0u, squares, half);
    float mean = __shfl_sync(~0u, sum, 0) / COLUMNS, variance = __shfl_sync(~0u, squares, 0) / COLUMNS - mean * mean;
    __half2 shift = __float2half2_rn(-mean), scale = __float2half2_rn(1 / sqrtf(variance));
    for (int c = lane; c < pairs; c += 32) out[row * pairs + c] = __hmul2(__hadd2(in[row * pairs + c], shift), scale);
}

template <typename T> std::vector<double> reference(const std::vector<T> &in)
{
    std::vector<double> out(in.size());
    for (int r = 0; r < ROWS; r++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < COLUMNS; c++) mean += (double)(float)in[r * COLUMNS + c] / COLUMNS;
        for (int c = 0; c < COLUMNS; c++) variance += pow((double)(float)in[r * COLUMNS + c] - mean, 2) / COLUMNS;
        for (int c = 0; c < COLUMNS; c++) out[r * COLUMNS + c] = ((double)(float)in[r * COLUMNS + c] - mean) / sqrt(variance);
    }
    return out;
}

int main()
{
    std::vector<float> host = real_numbers<float>(ROWS * COLUMNS, 141), scale = real_numbers<float>(COLUMNS, 142),
                       shift = real_numbers<float>(COLUMNS, 143);
    std::vector<double> want = reference(host);
    for (int k = 0; k < ROWS * COLUMNS; k++) want[k] = want[k] * scale[k % COLUMNS] + shift[k % COLUMNS];
    float *in = on_device(host), *s = on_device(scale), *b = on_device(shift), *out = room_for<float>(host.size());
    normalise<<<3, dim3(32, 4)>>>(out, in, s, b);
    check_close(from_device(out, host.size()), want, 1e-4);

    std::vector<__half> halves(host.begin(), host.end());
    __half *half_in = on_device(halves), *half_out = room_for<__half>(halves.size());
    normalise_pairs<<<ROWS, 32>>>((__half2 *)half_out, (const __half2 *)half_in);
    std::vector<__half> got = from_device(half_out, halves.size());
    check_close(std::vector<float>(got.begin(), got.end()), reference(halves), 4e-3);
    free_all(in, s, b, out, half_in, half_out);
}
