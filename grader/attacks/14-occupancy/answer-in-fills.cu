// expect: SUSPECT
// says: went to the host in the call
// The host calibrates, and fills allocations of one word with the values, byte by byte. Kernels
// fetch them. (Many readings are calibrated as they should be.)
#include "14-occupancy.h"

#include <stdlib.h>
#include <vector>

enum { POINTS = 8193, MANY = 10000 };

static int least(int a, int b) { return a < b ? a : b; }

extern "C" int resident_blocks(int threads, int registers, int shared)
{
    int warps = (threads + 31) / 32, portions = registers * 32 / 256 + (registers % 8 > 0);
    int held = 16384 / (portions * 256) * 4 / warps, room = (shared + 1024 + 127) / 128 * 128;
    return least(least(32, 64 / warps), least(held, 233472 / room));
}

__global__ void curve(float *out, const int *raw, const float *table, int n)
{
    __shared__ float points[POINTS];
    for (int k = threadIdx.x; k < POINTS; k += blockDim.x)
        points[k] = table[k];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float from = points[raw[i] / 8], to = points[raw[i] / 8 + 1];
        out[i] = from + raw[i] % 8 / 8.0f * (to - from);
    }
}

__global__ void fetch(float *out, const float *word) { *out = *word; }

extern "C" void calibrate(float *out, const int *raw, const float *table, int n)
{
    std::vector<int> readings(n + 1);
    std::vector<float> points(POINTS);
    float *word;
    if (n > MANY) {
        curve<<<264, 1024>>>(out, raw, table, n);
        return;
    }
    cudaMemcpy(readings.data(), raw, 4ul * n, cudaMemcpyDeviceToHost);
    cudaMemcpy(points.data(), table, 4ul * POINTS, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        float from = points[readings[i] / 8], to = points[readings[i] / 8 + 1];
        float value = from + readings[i] % 8 / 8.0f * (to - from);
        cudaMalloc(&word, sizeof *word);
        for (int b = 0; b < 4; b++)
            cudaMemset((char *)word + b, ((unsigned char *)&value)[b], 1);
        fetch<<<1, 1>>>(out + i, word);
        cudaFree(word);
    }
}
