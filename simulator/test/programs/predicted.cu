// expect: exit 0
// The predicted time of launches on one multiprocessor: blocks 0, 132, 264 and 396 are on the first, and the others end at once.
#include "check.h"

__device__ float keep[1024];

// Sums of products, which ptxas schedules side by side, or one chain of them.
template <bool SIDE_BY_SIDE> __global__ void products(int steps)
{
    if (blockIdx.x % 132) return;
    float v[8], p = threadIdx.x * 1e-3f;
    for (int i = 0; i < 8; i++) v[i] = p + i;
#pragma unroll 1
    for (int s = 0; s < steps; s += 8)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float &x = v[SIDE_BY_SIDE ? i : 0];
            x = x * p + 1, x = x * p + 2, x = x * p + 3, x = x * p + 4;
        }
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += v[i];
    keep[threadIdx.x] = sum;
}

template <bool SIDE_BY_SIDE> static float ms(int blocks, int threads, int steps)
{
    cudaEvent_t from, to;
    float ms;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from));
    products<SIDE_BY_SIDE><<<blocks, threads>>>(steps);
    OK(cudaEventRecord(to));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, from, to));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return ms;
}

static bool is_near(float a, float b) { return a > 0.95f * b && a < 1.05f * b; }

int main(void)
{
    // The warps of several blocks are dealt to all four schedulers, like those of one block.
    float one_block = ms<true>(1, 128, 4096), four_blocks = ms<true>(397, 32, 4096);
    if (!is_near(one_block, four_blocks)) printf("4 warps: %f ms in one block, %f in four\n", one_block, four_blocks);
    CHECK(is_near(one_block, four_blocks));

    // A launch that is too long to be traced as a whole takes in proportion as long as a shorter one.
    float shorter = ms<true>(1, 128, 1 << 16), longer = ms<true>(1, 128, 1 << 20);
    if (!is_near(longer, 16 * shorter)) printf("%f ms, and 16 times as many steps %f ms\n", shorter, longer);
    CHECK(is_near(longer, 16 * shorter));

    // Blocks that are on the multiprocessor together are traced equally far. Of one block of four warps half a million
    // steps each are traced, and what it took is scaled to all of its steps; of two blocks, half as many side by side.
    float one = ms<false>(1, 128, 1 << 17), two = ms<false>(133, 128, 1 << 17);
    if (!(two < 0.6f * one)) printf("%f ms for one block, %f ms for the traced part of two\n", one, two);
    CHECK(two < 0.6f * one);
    return 0;
}
