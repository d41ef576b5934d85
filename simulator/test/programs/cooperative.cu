// expect: exit 0
// A cooperative launch: blocks that meet in grid.sync(), as many as the device holds at once, and no more.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;
enum { THREADS = 256, ROUNDS = 5, BLOCKS = 24 };

// Each round adds to a cell what the cell one further round the ring was before it.
__global__ void ring(unsigned *cells)
{
    cg::grid_group grid = cg::this_grid();
    unsigned n = grid.size(), i = grid.thread_rank();
    for (int round = 0; round < ROUNDS; round++) {
        unsigned *from = cells + round % 2 * n, *to = cells + (round + 1) % 2 * n;
        to[i] = from[i] + from[(i + 300) % n];
        grid.sync();
    }
}

// Splits what grid.sync() does: arrives, works, waits.
__global__ void split(unsigned *sum, unsigned *seen)
{
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x == 0) atomicAdd(sum, blockIdx.x);
    auto token = grid.barrier_arrive();
    grid.barrier_wait((decltype(token) &&)token);
    if (threadIdx.x == 0) seen[blockIdx.x] = *sum;
}

__global__ void in_half_of_it(int *out)
{
    extern __shared__ int large[];
    large[threadIdx.x] = threadIdx.x;
    cg::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = large[THREADS - 1];
}

static cudaError_t cooperate(const void *kernel, int blocks, void **arguments, size_t shared)
{
    cudaError_t status = cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(THREADS), arguments, shared, 0);
    cudaGetLastError();
    return status;
}

int main()
{
    int sms, fit = 2;
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaFuncSetAttribute((const void *)in_half_of_it, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));

    unsigned *cells, *seen, sum, blocks = 2 * sms, n = BLOCKS * THREADS;
    OK(cudaMalloc(&cells, 2 * n * sizeof *cells));
    OK(cudaMalloc(&seen, blocks * sizeof *seen));
    unsigned *want = (unsigned *)malloc(2 * n * sizeof *want), *got = (unsigned *)malloc(n * sizeof *got);
    for (unsigned i = 0; i < n; i++) want[i] = i * 2654435761u;
    OK(cudaMemcpy(cells, want, n * sizeof *cells, cudaMemcpyHostToDevice));
    void *arguments[] = { &cells, &seen };
    OK(cooperate((const void *)ring, BLOCKS, arguments, 0));
    OK(cudaMemcpy(got, cells, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < n; i++)
            want[(round + 1) % 2 * n + i] = want[round % 2 * n + i] + want[round % 2 * n + (i + 300) % n];
    for (unsigned i = 0; i < n; i++) CHECK(got[i] == want[i]);

    OK(cudaMemset(cells, 0, sizeof *cells));
    OK(cooperate((const void *)split, blocks, arguments, 0));
    OK(cudaMemcpy(got, seen, blocks * sizeof *got, cudaMemcpyDeviceToHost));
    sum = blocks * (blocks - 1) / 2;
    for (unsigned b = 0; b < blocks; b++) CHECK(got[b] == sum);

    // 100 KB a block: two fit on a multiprocessor.
    arguments[0] = &seen;
    OK(cooperate((const void *)in_half_of_it, fit * sms, arguments, 100 << 10));
    OK(cudaMemcpy(got, seen, blocks * sizeof *got, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < blocks; b++) CHECK(got[b] == THREADS - 1);
    CHECK(cooperate((const void *)in_half_of_it, fit * sms + 1, arguments, 100 << 10) == cudaErrorCooperativeLaunchTooLarge);
    OK(cudaDeviceSynchronize());

    OK(cudaFree(cells));
    OK(cudaFree(seen));
    free(want);
    free(got);
    return 0;
}
