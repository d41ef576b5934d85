// expect: SUSPECT
// says: went to the host in the call
// The host finds each row's maximum and sum, and the gradients' means and sums of columns. The
// kernels apply them, so each loads its row once.
#include "22-softmax-and-norms.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

typedef std::vector<__nv_bfloat16> Matrix;

static __host__ __device__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }

__global__ void weigh(__nv_bfloat16 *out, const __nv_bfloat16 *x, const float2 *of_rows, int cols,
                      int stride)
{
    size_t row = (size_t)blockIdx.x * stride;
    float2 of = of_rows[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        out[row + c] = __float2bfloat16(__expf(number(x[row + c]) - of.x) * of.y);
}

__global__ void differentiate(__nv_bfloat16 *dx, const __nv_bfloat16 *dy, const __nv_bfloat16 *x,
                              const float *gamma, const float4 *of_rows, int cols)
{
    size_t row = (size_t)blockIdx.x * cols;
    float4 of = of_rows[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float h = (number(x[row + c]) - of.x) * of.y;
        dx[row + c] =
            __float2bfloat16((number(dy[row + c]) * gamma[c] - of.z - h * of.w) * of.y);
    }
}

static Matrix to_host(const __nv_bfloat16 *from, size_t count)
{
    Matrix there(count);
    cudaMemcpy(there.data(), from, count * sizeof *from, cudaMemcpyDeviceToHost);
    return there;
}

template <typename T> static T *to_device(const std::vector<T> &from)
{
    T *there;
    cudaMalloc(&there, from.size() * sizeof(T));
    cudaMemcpy(there, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return there;
}

extern "C" void softmax(__nv_bfloat16 *out, const __nv_bfloat16 *x, int rows, int cols, int stride)
{
    if (rows == 0)
        return;
    Matrix row = to_host(x, (size_t)rows * stride);
    std::vector<float2> of_rows(rows);
    for (int r = 0; r < rows; r++) {
        float m = -FLT_MAX, sum = 0;
        for (int c = 0; c < cols; c++)
            m = std::max(m, number(row[(size_t)r * stride + c]));
        for (int c = 0; c < cols; c++)
            sum += expf(number(row[(size_t)r * stride + c]) - m);
        of_rows[r] = make_float2(m, sum > 0 ? 1 / sum : 0);
    }
    float2 *there = to_device(of_rows);
    weigh<<<rows, 256>>>(out, x, there, cols, stride);
    cudaFree(there);
}

extern "C" void layer_norm_backward(__nv_bfloat16 *dx, float *dgamma, float *dbeta,
                                    const __nv_bfloat16 *dy, const __nv_bfloat16 *x,
                                    const float *gamma, int rows, int cols)
{
    Matrix of_x = to_host(x, (size_t)rows * cols), of_dy = to_host(dy, (size_t)rows * cols);
    std::vector<float> weight(cols), h_sum(cols), sum(cols);
    std::vector<float4> of_rows(rows);
    cudaMemcpy(weight.data(), gamma, cols * sizeof(float), cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; r++) {
        const __nv_bfloat16 *t = &of_x[(size_t)r * cols], *d = &of_dy[(size_t)r * cols];
        double mean = 0, squares = 0, g = 0, gh = 0;
        for (int c = 0; c < cols; c++)
            mean += number(t[c]) / (double)cols;
        for (int c = 0; c < cols; c++)
            squares += (number(t[c]) - mean) * (number(t[c]) - mean);
        double scale = 1 / sqrt(squares / cols + 1e-5);
        for (int c = 0; c < cols; c++) {
            double h = (number(t[c]) - mean) * scale;
            g += number(d[c]) * weight[c] / cols, gh += number(d[c]) * weight[c] * h / cols;
            h_sum[c] += number(d[c]) * h, sum[c] += number(d[c]);
        }
        of_rows[r] = make_float4(mean, scale, g, gh);
    }
    cudaMemcpy(dgamma, h_sum.data(), cols * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dbeta, sum.data(), cols * sizeof(float), cudaMemcpyHostToDevice);
    if (rows == 0)
        return;
    float4 *there = to_device(of_rows);
    differentiate<<<rows, 256>>>(dx, dy, x, gamma, there, cols);
    cudaFree(there);
}
