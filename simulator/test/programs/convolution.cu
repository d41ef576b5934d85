// expect: exit 0
// Convolutions: in one dimension with the weights in constant memory and a halo in shared memory, and separable in two, with
// streams and events between the passes.
#include "numbers.h"

enum { RADIUS = 4, TAPS = 2 * RADIUS + 1, BLOCK = 128 };

__constant__ float weights[TAPS];

__global__ void line(float *out, const float *in, int n)
{
    __shared__ float s[BLOCK + 2 * RADIUS];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    for (int k = threadIdx.x; k < BLOCK + 2 * RADIUS; k += BLOCK) {
        int from = (int)blockIdx.x * BLOCK + k - RADIUS;
        s[k] = from >= 0 && from < n ? in[from] : 0;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += weights[k] * s[threadIdx.x + k];
    out[i] = sum;
}

template <bool DOWN> __global__ void pass(float *out, const float *in, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int from_x = DOWN ? x : min(max(x + k, 0), width - 1), from_y = DOWN ? min(max(y + k, 0), height - 1) : y;
        sum = fmaf(weights[k + RADIUS], in[from_y * width + from_x], sum);
    }
    out[y * width + x] = sum;
}

static void try_line(const std::vector<float> &w, int n)
{
    std::vector<float> host = real_numbers<float>(n, 71);
    std::vector<double> want(n);
    for (int i = 0; i < n; i++)
        for (int k = -RADIUS; k <= RADIUS; k++)
            if (i + k >= 0 && i + k < n) want[i] += (double)w[k + RADIUS] * host[i + k];
    float *in = on_device(host), *out = room_for<float>(n);
    line<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(out, in, n);
    check_close(from_device(out, n), want, 1e-5);
    free_all(in, out);
}

static void try_image(const std::vector<float> &w, int height, int width)
{
    std::vector<float> host = real_numbers<float>(height * width, 72);
    std::vector<double> across(height * width), want(height * width);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = -RADIUS; k <= RADIUS; k++)
                across[y * width + x] += (double)w[k + RADIUS] * host[y * width + (x + k < 0 ? 0 : x + k >= width ? width - 1 : x + k)];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = -RADIUS; k <= RADIUS; k++)
                want[y * width + x] += w[k + RADIUS] * across[(y + k < 0 ? 0 : y + k >= height ? height - 1 : y + k) * width + x];
    cudaStream_t one, two;
    cudaEvent_t half;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaEventCreate(&half));
    float *in = on_device(host), *middle = room_for<float>(host.size()), *out = room_for<float>(host.size());
    dim3 threads(16, 8), blocks((width + 15) / 16, (height + 7) / 8);
    pass<false><<<blocks, threads, 0, one>>>(middle, in, height, width);
    OK(cudaEventRecord(half, one));
    OK(cudaStreamWaitEvent(two, half, 0));
    pass<true><<<blocks, threads, 0, two>>>(out, middle, height, width);
    OK(cudaStreamSynchronize(two));
    check_close(from_device(out, host.size()), want, 1e-5);
    free_all(in, middle, out);
    OK(cudaEventDestroy(half));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
}

int main()
{
    std::vector<float> w = real_numbers<float>(TAPS, 73);
    OK(cudaMemcpyToSymbol(weights, w.data(), sizeof weights));
    try_line(w, 1);
    try_line(w, 1000);
    try_image(w, 37, 61);
}
