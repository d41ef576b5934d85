// expect: exit 0
// Prefix sums: of warps by shuffles, of blocks from those, and of the array by a second kernel over the blocks' sums.
#include <type_traits>

#include "numbers.h"

enum { BLOCK = 256, WARPS = BLOCK / 32 };

template <typename T> __device__ T scan_warp(T x)
{
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        T before = __shfl_up_sync(~0u, x, step);
        if (lane >= step) x += before;
    }
    return x;
}

template <typename T> __device__ T scan_block(T x)
{
    __shared__ T sums[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x = scan_warp(x);
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        T sum = lane < WARPS ? sums[lane] : 0;
        sum = scan_warp(sum);
        if (lane < WARPS) sums[lane] = sum;
    }
    __syncthreads();
    return warp ? x + sums[warp - 1] : x;
}

template <typename T> __global__ void scan_blocks(T *out, T *sums, const T *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    T x = scan_block<T>(i < n ? in[i] : 0);
    if (i < n) out[i] = x;
    if (threadIdx.x == BLOCK - 1) sums[blockIdx.x] = x;
}

template <typename T> __global__ void add_sums(T *out, const T *sums, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x && i < n) out[i] += sums[blockIdx.x - 1];
}

template <typename T> void try_scan(const std::vector<T> &host, double tolerance)
{
    int n = (int)host.size(), blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<double> want(n);
    double sum = 0;
    for (int k = 0; k < n; k++) want[k] = sum += host[k];
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    T *in = on_device(host), *out = room_for<T>(n), *sums = room_for<T>(blocks), *total = room_for<T>(1);
    scan_blocks<<<blocks, BLOCK, 0, stream>>>(out, sums, in, n);
    scan_blocks<<<1, BLOCK, 0, stream>>>(sums, total, sums, blocks);
    add_sums<<<blocks, BLOCK, 0, stream>>>(out, sums, n);
    OK(cudaStreamSynchronize(stream));
    check_close(from_device(out, n), want, tolerance);
    free_all(in, out, sums, total);
    OK(cudaStreamDestroy(stream));
}

int main()
{
    for (int n : { 1, 31, 256, 257, 5000 }) {
        try_scan(whole_numbers(n, 3, 100), 0);
        try_scan(real_numbers<double>(n, 4), 1e-12);
        try_scan(real_numbers<float>(n, 5), 1e-4);
    }
}
