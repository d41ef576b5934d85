// expect: exit 0
// Matrix products: tiles in shared memory, four results a thread by float4, and halves with sums in float.
#include <cuda_fp16.h>

#include "numbers.h"

enum { TILE = 16 };

template <typename T, typename Sum> __global__ void tiled(T *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ T tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    Sum sum = 0;
    for (int first = 0; first < k; first += TILE) {
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : T(0.0f);
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : T(0.0f);
        __syncthreads();
        for (int j = 0; j < TILE; j++) sum += Sum(tile_a[y][j]) * Sum(tile_b[j][x]);
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = T(sum);
}

// n is a multiple of 4; the thread has four neighbouring columns.
__global__ void four_columns(float *c, const float *__restrict__ a, const float *__restrict__ b, int m, int n, int k)
{
    int column = 4 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < k; j++) {
        float4 four = *(const float4 *)&b[j * n + column];
        float x = a[row * k + j];
        sum.x += x * four.x, sum.y += x * four.y, sum.z += x * four.z, sum.w += x * four.w;
    }
    *(float4 *)&c[row * n + column] = sum;
}

static std::vector<double> product(const std::vector<double> &a, const std::vector<double> &b, int m, int n, int k)
{
    std::vector<double> c(m * n);
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++)
            for (int j = 0; j < k; j++) c[y * n + x] += a[y * k + j] * b[j * n + x];
    return c;
}

template <typename T, typename Sum> void try_type(int m, int n, int k, double tolerance)
{
    std::vector<float> real_a = real_numbers<float>(m * k, 61), real_b = real_numbers<float>(k * n, 62);
    std::vector<T> a(real_a.begin(), real_a.end()), b(real_b.begin(), real_b.end());
    std::vector<double> exact_a, exact_b;
    for (T x : a) exact_a.push_back((double)(float)x);
    for (T x : b) exact_b.push_back((double)(float)x);
    T *da = on_device(a), *db = on_device(b), *c = room_for<T>(m * n);
    tiled<T, Sum><<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(c, da, db, m, n, k);
    std::vector<T> got = from_device(c, m * n);
    std::vector<float> as_float(got.size());
    for (size_t j = 0; j < got.size(); j++) as_float[j] = (float)got[j];
    check_close(as_float, product(exact_a, exact_b, m, n, k), tolerance);
    free_all(da, db, c);
}

int main()
{
    try_type<float, float>(33, 50, 47, 1e-5);
    try_type<__half, float>(32, 20, 40, 2e-3);
    try_type<float, double>(16, 16, 16, 1e-6);

    int m = 21, n = 36, k = 30;
    std::vector<float> a = real_numbers<float>(m * k, 63), b = real_numbers<float>(k * n, 64);
    float *da = on_device(a), *db = on_device(b), *c = room_for<float>(m * n);
    four_columns<<<dim3(2, 6), dim3(8, 4)>>>(c, da, db, m, n, k);
    check_close(from_device(c, m * n), product({ a.begin(), a.end() }, { b.begin(), b.end() }, m, n, k), 1e-5);
    free_all(da, db, c);
}
