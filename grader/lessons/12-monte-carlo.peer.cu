// The peer: the same points by cuRAND's device functions. As many threads as fill an H200, 2,048 on each of its 132
// multiprocessors, each with a stretch of the blocks of words, taken as floats by curand_uniform4().
#include <curand_kernel.h>

enum { THREADS = 256, BLOCKS = 1056 };

__global__ void hits_curand_kernel(int *hits, int points, const unsigned *seed)
{
    unsigned thread = blockIdx.x * THREADS + threadIdx.x, words = (points + 1u) / 2;
    unsigned each = (words + BLOCKS * THREADS - 1) / (BLOCKS * THREADS);
    unsigned first = thread * each, last = min(first + each, words);
    int mine = 0;

    curandStatePhilox4_32_10_t state;
    curand_init(*seed, 0, 4ull * first, &state);
    for (unsigned b = first; b < last; b++) {
        float4 f = curand_uniform4(&state);
        mine += f.x * f.x + f.y * f.y < 1;
        mine += 2 * b + 1 < points && f.z * f.z + f.w * f.w < 1;
    }
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, mine);
}

extern "C" void hits_curand(int *hits, int points, const unsigned *seed)
{
    cudaMemsetAsync(hits, 0, sizeof *hits);
    hits_curand_kernel<<<BLOCKS, THREADS>>>(hits, points, seed);
}
