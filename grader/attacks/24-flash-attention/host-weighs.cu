// expect: SUSPECT
// says: went to the host in the call
// The host makes the weights, in floats. A kernel multiplies the values by them, and stores each
// result once.
#include "24-flash-attention.h"

#include <cmath>
#include <vector>

// A block has the results of a query.
__global__ void add_values(__nv_bfloat16 *out, const float *weights, const __nv_bfloat16 *v,
                           int length, int width, int causal)
{
    size_t row = (size_t)blockIdx.y * length + blockIdx.x;
    int keys = causal ? blockIdx.x + 1 : length;
    const __nv_bfloat16 *value = v + (size_t)blockIdx.y * length * width + threadIdx.x;
    float sum = 0;
    for (int key = 0; key < keys; key++)
        sum += weights[row * length + key] * __bfloat162float(value[(size_t)key * width]);
    out[row * width + threadIdx.x] = __float2bfloat16(sum);
}

static std::vector<float> to_host(const __nv_bfloat16 *from, size_t count)
{
    std::vector<__nv_bfloat16> there(count);
    cudaMemcpy(there.data(), from, count * sizeof *from, cudaMemcpyDeviceToHost);
    return std::vector<float>(there.begin(), there.end());
}

static void weigh(float *row, const float *query, const float *keys, int count, int width)
{
    float m = -INFINITY, total = 0;
    for (int j = 0; j < count; j++) {
        float s = 0;
        for (int i = 0; i < width; i++)
            s += query[i] * keys[(size_t)j * width + i];
        m = fmaxf(m, row[j] = s / sqrtf(width));
    }
    for (int j = 0; j < count; j++)
        total += row[j] = expf(row[j] - m);
    for (int j = 0; j < count; j++)
        row[j] /= total;
}

extern "C" void attention(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                          const __nv_bfloat16 *v, int heads, int length, int width, int causal)
{
    size_t rows = (size_t)heads * length, bytes = rows * length * sizeof(float);
    if (rows == 0)
        return;
    std::vector<float> a = to_host(q, rows * width), b = to_host(k, rows * width);
    std::vector<float> weights(rows * length);
    for (size_t r = 0; r < rows; r++)
        weigh(&weights[r * length], &a[r * width], &b[r / length * length * width],
              causal ? r % length + 1 : length, width);
    float *there;
    cudaMalloc(&there, bytes);
    cudaMemcpy(there, weights.data(), bytes, cudaMemcpyHostToDevice);
    add_values<<<dim3(length, heads), width>>>(out, there, v, length, width, causal);
    cudaFree(there);
}
