// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// How many blocks fit beside one another, as the toolkit's cuda_occupancy.h computes it; and kernels that fit run
// beside one another.
#include "check.h"

__global__ void plain(int *p) { p[threadIdx.x] = threadIdx.x; }

__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void busy(int *p)
{
    for (int i = 0; i < 40; i++)
        atomicAdd(p, 1);
}

static int blocks(const void *kernel, int threads, size_t shared)
{
    int count = -1;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, threads, shared));
    return count;
}

// The time of that many launches of so many blocks, each on a stream of its own.
static float together(int launches, int grid, int *p)
{
    cudaStream_t s[3];
    cudaEvent_t from, to;
    float time;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from, cudaStreamLegacy));
    for (int i = 0; i < launches; i++) {
        OK(cudaStreamCreate(&s[i]));
        busy<<<grid, 1, 0, s[i]>>>(p + i);
    }
    OK(cudaEventRecord(to, cudaStreamLegacy));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&time, from, to));
    for (int i = 0; i < launches; i++)
        OK(cudaStreamDestroy(s[i]));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return time;
}

int main()
{
    const void *p = (void *)plain, *d = (void *)dynamic;
    CHECK(blocks(p, 1024, 0) == 2 && blocks(p, 256, 0) == 8 && blocks(p, 32, 0) == 32 && blocks(p, 33, 0) == 32);
    CHECK(blocks(d, 32, 40 << 10) == 5);                // 228 KiB, 1 of each block's reserved
    size_t left = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&left, d, 5, 32));
    CHECK(left == 46592);                               // as an H200 says, which forgets what it reserves of each
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&left, d, 32, 32));
    CHECK(left == 7296);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&left, d, 33, 32) == cudaErrorInvalidValue);
    CHECK(blocks(p, 32, 48 << 10) == 4 && blocks(p, 32, 50000) == 0);       // more than it has asked for
    int grid, threads, none;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, plain, 0, 0));
    CHECK(threads == 1024 && grid == 2 * 132);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, p, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, &none, 32, 0) == cudaErrorInvalidResourceHandle);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&none, p, 64, 0, cudaOccupancyDisableCachingOverride));
    CHECK(none == 32);

    int *counts;
    OK(cudaMalloc(&counts, 3 * sizeof *counts));
    OK(cudaMemset(counts, 0, 3 * sizeof *counts));
    float one = together(2, 1, counts), all = together(2, 132 * 32, counts);
    float halves = together(2, 66 * 32, counts), three = together(3, 66 * 32, counts);
    CHECK(three > 1.8f * halves && three < 2.1f * halves);      // two at a time
    OK(cudaMemset(counts, 0, 3 * sizeof *counts));
    cudaEvent_t from, to;
    float single;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from));
    busy<<<1, 1>>>(counts);
    OK(cudaEventRecord(to));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&single, from, to));
    CHECK(one < single + 0.01f);                        // two launches take longer to issue than one
    OK(cudaEventRecord(from));
    busy<<<132 * 32, 1>>>(counts);
    OK(cudaEventRecord(to));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&single, from, to));
    CHECK(all > 1.9f * single);
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    OK(cudaFree(counts));
    return 0;
}
