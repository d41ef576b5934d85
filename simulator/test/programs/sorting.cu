// expect: exit 0
// Sorting: bitonic in shared memory, merge sort by ranks, and a radix sort with four bits a pass.
#include <algorithm>

#include "numbers.h"

enum { BLOCK = 256, DIGITS = 16 };

template <typename T> __global__ void bitonic(T *data)
{
    __shared__ T s[2 * BLOCK];
    int t = threadIdx.x;
    s[t] = data[t], s[t + BLOCK] = data[t + BLOCK];
    for (int size = 2; size <= 2 * BLOCK; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (step - 1)), high = low + step;
            bool up = !(low & size);
            T a = s[low], b = s[high];
            if ((a > b) == up) s[low] = b, s[high] = a;
        }
    __syncthreads();
    data[t] = s[t], data[t + BLOCK] = s[t + BLOCK];
}

// How many of `run` are below x, or not above it.
__device__ int rank_of(const int *run, int length, int x, bool equal_too)
{
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) / 2;
        if (run[middle] < x || (equal_too && run[middle] == x)) low = middle + 1;
        else high = middle;
    }
    return low;
}

__global__ void merge_runs(int *out, const int *in, int n, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int pair = i / (2 * length) * 2 * length, middle = min(pair + length, n), end = min(pair + 2 * length, n);
    bool left = i < middle;
    int other = left ? rank_of(in + middle, end - middle, in[i], false) : rank_of(in + pair, middle - pair, in[i], true);
    out[(left ? i : i - (middle - pair)) + other] = in[i];
}

// One block, one pass: each thread counts the digits of its stretch, and writes it in the order of all counts.
__global__ void radix_pass(unsigned *out, const unsigned *in, int n, int shift)
{
    __shared__ int counts[DIGITS][BLOCK];
    int t = threadIdx.x, each = (n + BLOCK - 1) / BLOCK, first = t * each, end = min(first + each, n);
    for (int d = 0; d < DIGITS; d++) counts[d][t] = 0;
    for (int i = first; i < end; i++) counts[in[i] >> shift & (DIGITS - 1)][t]++;
    __syncthreads();
    if (t == 0)
        for (int d = 0, sum = 0; d < DIGITS; d++)
            for (int k = 0; k < BLOCK; k++) {
                int count = counts[d][k];
                counts[d][k] = sum, sum += count;
            }
    __syncthreads();
    for (int i = first; i < end; i++) out[counts[in[i] >> shift & (DIGITS - 1)][t]++] = in[i];
}

int main()
{
    std::vector<double> reals = real_numbers<double>(2 * BLOCK, 31), want = reals;
    double *d = on_device(reals);
    bitonic<<<1, BLOCK>>>(d);
    std::sort(want.begin(), want.end());
    check_close(from_device(d, reals.size()), want, 0);

    int n = 3001;
    std::vector<int> keys = whole_numbers(n, 32, 500);
    int *a = on_device(keys), *b = room_for<int>(n);
    for (int length = 1; length < n; length *= 2, std::swap(a, b)) merge_runs<<<(n + 127) / 128, 128>>>(b, a, n, length);
    std::sort(keys.begin(), keys.end());
    CHECK(from_device(a, n) == keys);

    n = 2000;
    std::vector<unsigned> words(n);
    unsigned seed = 33;
    for (unsigned &w : words) w = next_number(&seed) * 977;
    unsigned *from = on_device(words), *to = room_for<unsigned>(n);
    for (int shift = 0; shift < 32; shift += 4, std::swap(from, to)) radix_pass<<<1, BLOCK>>>(to, from, n, shift);
    std::sort(words.begin(), words.end());
    CHECK(from_device(from, n) == words);
    free_all(d, a, b, from, to);
}
