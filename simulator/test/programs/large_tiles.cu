// expect: bounds 61
// says: at byte 1024 of the block's 1024 bytes of shared memory
// Tiles of several warps: they meet, and pass values, in shared memory that is the system's, beside the block's own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include "check.h"

namespace cg = cooperative_groups;

enum { THREADS = 512, BLOCKS = 3, N = THREADS * BLOCKS };

template <int SIZE>
__device__ int in_tile(const cg::thread_block &block, const int *in, int *own)
{
    auto tile = cg::tiled_partition<SIZE>(block);
    int value = in[blockIdx.x * THREADS + block.thread_rank()];
    own[block.thread_rank()] = value;
    tile.sync();
    int neighbour = own[block.thread_rank() / SIZE * SIZE + (block.thread_rank() + 33) % SIZE];
    tile.sync();
    return cg::reduce(tile, value, cg::plus<int>()) + 3 * cg::inclusive_scan(tile, value) + 5 * tile.shfl(value, SIZE - 2)
        + 7 * tile.any(value == 12) + 11 * neighbour + 13 * (int)tile.meta_group_rank();
}

template <int SIZE>
__global__ void tiles(const int *in, int *out)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    extern __shared__ int own[];
    out[blockIdx.x * THREADS + threadIdx.x] = in_tile<SIZE>(cg::this_thread_block(memory), in, own);
}

template <int SIZE>
static void check(const int *in, const int *d_in, int *d_out)
{
    static int out[N];
    tiles<SIZE><<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(d_in, d_out);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int first = 0; first < N; first += SIZE) {
        int sum = 0, before = 0, any = 0;
        for (int i = first; i < first + SIZE; i++) sum += in[i], any |= in[i] == 12;
        for (int i = first; i < first + SIZE; i++) {
            before += in[i];
            CHECK(out[i] == sum + 3 * before + 5 * in[first + SIZE - 2] + 7 * any + 11 * in[first + (i - first + 33) % SIZE]
                            + 13 * (first % THREADS / SIZE));
        }
    }
}

// What lies behind the block's own memory is nobody's.
__global__ void beyond(int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    __shared__ int own[256];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    own[block.thread_rank()] = 1;
    block.sync();
    out[block.thread_rank()] = cg::reduce(tile, own[block.thread_rank() + 1], cg::plus<int>());
}

int main()
{
    static int in[N];
    int *d_in, *d_out;
    for (int i = 0; i < N; i++) in[i] = i * 7919 % 1000;
    OK(cudaMalloc(&d_in, sizeof in));
    OK(cudaMalloc(&d_out, sizeof in));
    OK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    check<64>(in, d_in, d_out);
    check<128>(in, d_in, d_out);
    check<256>(in, d_in, d_out);
    check<512>(in, d_in, d_out);
    beyond<<<1, 256>>>(d_out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
