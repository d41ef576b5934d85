// expect: exit 0
// Keeping what passes a test: in order, by ballots and a scan of the warps; and in any order, with one atomic a warp.
#include <algorithm>
#include <cooperative_groups.h>

#include "numbers.h"

namespace cg = cooperative_groups;
enum { BLOCK = 128 };

__device__ bool passes(int x) { return x % 3 == 1; }

// One block: it goes over the array and carries on what it has kept.
__global__ void in_order(int *out, int *count, const int *in, int n)
{
    __shared__ int of_warp[BLOCK / 32], kept;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    for (int first = 0; first < n; first += BLOCK) {
        int i = first + threadIdx.x;
        bool mine = i < n && passes(in[i]);
        unsigned lanes = __ballot_sync(~0u, mine);
        if (lane == 0) of_warp[warp] = __popc(lanes);
        __syncthreads();
        int before = kept;
        for (int w = 0; w < warp; w++) before += of_warp[w];
        if (mine) out[before + __popc(lanes & ((1u << lane) - 1))] = in[i];
        __syncthreads();
        if (threadIdx.x == 0)
            for (int w = 0; w < BLOCK / 32; w++) kept += of_warp[w];
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = kept;
}

__global__ void in_any_order(int *out, int *count, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !passes(in[i])) return;
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0) first = atomicAdd(count, (int)group.size());
    out[group.shfl(first, 0) + group.thread_rank()] = in[i];
}

int main()
{
    for (int n : { 1, 100, 3000 }) {
        std::vector<int> host = whole_numbers(n, 101, 1000), want;
        std::copy_if(host.begin(), host.end(), std::back_inserter(want), [](int x) { return x % 3 == 1; });
        int *in = on_device(host), *out = room_for<int>(n), *count = room_for<int>(1);
        in_order<<<1, BLOCK>>>(out, count, in, n);
        CHECK(from_device(count, 1)[0] == (int)want.size());
        CHECK(from_device(out, want.size()) == want);
        OK(cudaMemset(count, 0, sizeof *count));
        in_any_order<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(out, count, in, n);
        CHECK(from_device(count, 1)[0] == (int)want.size());
        std::vector<int> got = from_device(out, want.size());
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
        CHECK(got == want);
        free_all(in, out, count);
    }
}
