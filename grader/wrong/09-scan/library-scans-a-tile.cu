// expect: BUILD
// at: #include <cub/block/block_scan.cuh>
// says: you do without the library cub
// CUB scans, which the lesson is to write.
#include "09-scan.h"
#include <cub/block/block_scan.cuh>

enum { THREADS = 256 };

template <typename T> static __global__ void scan(T *out, const T *in, int n)
{
    using Scan = cub::BlockScan<T, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    T before = 0;
    for (int first = 0; first < n; first += THREADS) {
        int i = first + (int)threadIdx.x;
        T sum = i < n ? in[i] : 0, all;
        Scan(storage).InclusiveSum(sum, sum, all);
        if (i < n) out[i] = before + sum;
        before += all;
        __syncthreads();
    }
}

void scan_i32(int *out, const int *in, int n, void *) { scan<<<1, THREADS>>>(out, in, n); }
void scan_f32(float *out, const float *in, int n, void *) { scan<<<1, THREADS>>>(out, in, n); }
