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

template <typename T> __global__ void add_to_one(T *to) { atomicAdd(to, (T)threadIdx.x); }

__constant__ unsigned table[32];
__global__ void read_constants(unsigned words)
{
    unsigned at = threadIdx.x % words;
#pragma unroll 1
    for (int i = 0; i < 256; i++) at = table[at];
    keep[threadIdx.x] = at;
}

template <typename Launch> static float ms_of(Launch launch)
{
    cudaEvent_t from, to;
    float ms;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from));
    launch();
    OK(cudaEventRecord(to));
    OK(cudaDeviceSynchronize());
    OK(cudaEventElapsedTime(&ms, from, to));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return ms;
}

template <bool SIDE_BY_SIDE> static float ms(int blocks, int threads, int steps)
{
    return ms_of([=] { products<SIDE_BY_SIDE><<<blocks, threads>>>(steps); });
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

    // One word takes fewer additions of floats than of integers: 0.29 a clock, and 0.69.
    void *word;
    OK(cudaMalloc(&word, sizeof(double)));
    OK(cudaMemset(word, 0, sizeof(double)));
    float integers = ms_of([=] { add_to_one<<<1024, 256>>>((unsigned long long *)word); }),
          floats = ms_of([=] { add_to_one<<<1024, 256>>>((float *)word); });
    OK(cudaFree(word));
    CHECK(floats > 2 * integers);

    // Lanes that read different words of constant memory wait for one another.
    unsigned host[32];
    for (unsigned i = 0; i < 32; i++) host[i] = i;
    OK(cudaMemcpyToSymbol(table, host, sizeof host));
    float same = ms_of([] { read_constants<<<1, 32>>>(1); }), different = ms_of([] { read_constants<<<1, 32>>>(32); });
    if (!(different > 4 * same)) printf("%f ms for one word, %f for 32\n", same, different);
    CHECK(different > 4 * same);
    return 0;
}
