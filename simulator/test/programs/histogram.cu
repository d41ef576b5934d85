// expect: exit 0
// Histograms: with atomics in global memory, with a copy for each block in shared memory, and in managed memory by one warp
// that matches its lanes.
#include "numbers.h"

enum { BINS = 100 };

__global__ void in_global(unsigned *bins, const int *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
}

__global__ void in_shared(unsigned *bins, const int *in, int n)
{
    __shared__ unsigned own[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (own[b]) atomicAdd(&bins[b], own[b]);
}

// Lanes that have the same bin are counted by the lowest of them. All of the warp go round as often: __activemask() says
// who happens to be here, and orders nothing.
__global__ void by_matching(unsigned *bins, const int *in, int n)
{
    for (int first = 0; first < n; first += 32) {
        int i = first + threadIdx.x;
        unsigned same = __match_any_sync(~0u, i < n ? in[i] : -1);
        if (i < n && (int)threadIdx.x == __ffs((int)same) - 1) bins[in[i]] += __popc(same);
        __syncwarp();
    }
}

int main()
{
    for (int n : { 1, 1000, 20000 }) {
        std::vector<int> host = whole_numbers(n, 21, BINS);
        std::vector<double> want(BINS);
        for (int x : host) want[x]++;
        int *in = on_device(host);
        unsigned *bins = room_for<unsigned>(BINS), *managed;
        OK(cudaMemset(bins, 0, BINS * sizeof *bins));
        in_global<<<4, 128>>>(bins, in, n);
        check_close(from_device(bins, BINS), want, 0);
        OK(cudaMemset(bins, 0, BINS * sizeof *bins));
        in_shared<<<5, 96>>>(bins, in, n);
        check_close(from_device(bins, BINS), want, 0);
        OK(cudaMallocManaged(&managed, BINS * sizeof *managed));
        by_matching<<<1, 32>>>(managed, in, n);
        OK(cudaDeviceSynchronize());
        check_close(std::vector<unsigned>(managed, managed + BINS), want, 0);
        free_all(in, bins, managed);
    }
}
