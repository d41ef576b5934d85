// expect: exit 0
// Attention for a head: the scores of a query against all keys, their softmax as it comes along, and the weighted values, a
// warp for each query, keys and values by tiles of shared memory that the whole block loads.
#include "numbers.h"

enum { QUERIES = 20, KEYS = 77, WIDTH = 32, TILE = 16, WARPS = 4 };

__global__ void attend(float *out, const float *q, const float *k, const float *v)
{
    __shared__ float keys[TILE][WIDTH + 1], values[TILE][WIDTH];
    int lane = threadIdx.x, query = blockIdx.x * WARPS + threadIdx.y;
    float mine = query < QUERIES ? q[query * WIDTH + lane] : 0, most = -INFINITY, sum = 0, result = 0;
    for (int first = 0; first < KEYS; first += TILE) {
        int rows = min(TILE, KEYS - first);
        for (int r = threadIdx.y; r < rows; r += WARPS) {
            keys[r][lane] = k[(first + r) * WIDTH + lane];
            values[r][lane] = v[(first + r) * WIDTH + lane];
        }
        __syncthreads();
        float score = 0;
        for (int c = 0; c < WIDTH; c++) score += __shfl_sync(~0u, mine, c) * (lane < rows ? keys[lane][c] : 0);
        score = lane < rows ? score * rsqrtf(WIDTH) : -INFINITY;
        float highest = score;
        for (int half = 16; half; half /= 2) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, half));
        highest = fmaxf(highest, most);
        float weight = expf(score - highest), mend = expf(most - highest), weights = weight;
        for (int half = 16; half; half /= 2) weights += __shfl_xor_sync(~0u, weights, half);
        sum = sum * mend + weights, result *= mend, most = highest;
        for (int r = 0; r < rows; r++) result += __shfl_sync(~0u, weight, r) * values[r][lane];
        __syncthreads();
    }
    if (query < QUERIES) out[query * WIDTH + lane] = result / sum;
}

int main()
{
    std::vector<float> q = real_numbers<float>(QUERIES * WIDTH, 221), k = real_numbers<float>(KEYS * WIDTH, 222),
                       v = real_numbers<float>(KEYS * WIDTH, 223);
    std::vector<double> want(QUERIES * WIDTH);
    for (int i = 0; i < QUERIES; i++) {
        double sum = 0;
        for (int j = 0; j < KEYS; j++) {
            double score = 0;
            for (int c = 0; c < WIDTH; c++) score += (double)q[i * WIDTH + c] * k[j * WIDTH + c];
            score = exp(score / sqrt((double)WIDTH));
            sum += score;
            for (int c = 0; c < WIDTH; c++) want[i * WIDTH + c] += score * v[j * WIDTH + c];
        }
        for (int c = 0; c < WIDTH; c++) want[i * WIDTH + c] /= sum;
    }
    float *dq = on_device(q), *dk = on_device(k), *dv = on_device(v), *out = room_for<float>(want.size());
    attend<<<(QUERIES + WARPS - 1) / WARPS, dim3(WIDTH, WARPS)>>>(out, dq, dk, dv);
    check_close(from_device(out, want.size()), want, 1e-5);
    free_all(dq, dk, dv, out);
}
