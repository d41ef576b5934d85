// expect: SUSPECT
// says: went to the host in the call
// The host sorts in managed memory, which a kernel fills and a copy within the device reads: pages
// move to the host, and none moves back.
#include "11-radix-sort.h"

#include <algorithm>

__global__ void move(unsigned *to, const unsigned *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

// What `work` makes of the host's copy of `in`, which is all there is of it, comes to out.
template <typename T, typename Work>
static int by_host(T *out, const T *in, int n, void *scratch, Work work)
{
    T *both;
    if (n == 0)
        return 0;
    cudaMallocManaged(&both, n * sizeof *both);
    move<<<(n + 255) / 256, 256>>>((unsigned *)both, (const unsigned *)in, n);
    cudaDeviceSynchronize();
    int left = (int)(work(both, both + n) - both);
    cudaMemcpy(scratch, both, n * sizeof *both, cudaMemcpyDeviceToDevice);
    if (left)
        move<<<(left + 255) / 256, 256>>>((unsigned *)out, (const unsigned *)scratch, left);
    cudaDeviceSynchronize();
    cudaFree(both);
    return left;
}

__global__ void tell(int *kept, int count) { *kept = count; }

extern "C" void keep_above(int *out, int *kept, const int *in, int n, int limit, void *scratch)
{
    int count = by_host(out, in, n, scratch, [=](int *from, int *to) {
        return std::remove_if(from, to, [=](int x) { return x <= limit; });
    });
    tell<<<1, 1>>>(kept, count);
}

template <typename T> static void sort(T *out, const T *in, int n, void *scratch)
{
    by_host(out, in, n, scratch, [](T *from, T *to) { return std::sort(from, to), to; });
}

extern "C" void sort_u32(unsigned *out, const unsigned *in, int n, int first, int end,
                         void *scratch)
{
    unsigned mask = (unsigned)((1ull << end) - (1ull << first));
    by_host(out, in, n, scratch, [=](unsigned *from, unsigned *to) {
        std::stable_sort(from, to, [=](unsigned a, unsigned b) { return (a & mask) < (b & mask); });
        return to;
    });
}

extern "C" void sort_i32(int *out, const int *in, int n, void *scratch)
{
    sort(out, in, n, scratch);
}

extern "C" void sort_f32(float *out, const float *in, int n, void *scratch)
{
    sort(out, in, n, scratch);
}
