// expect: race 42
// says: thread (1,0,0) also writes what thread (0,0,0) writes in shared memory, by the same line
// Lanes of one cp.async that copy the same bytes to one place do not race: the lanes that a copy of cooperative groups has no elements
// for repeat what its last one copies. They do not when they wait for it one after the other either. Of different bytes nobody
// knows which stay.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include "check.h"
namespace cg = cooperative_groups;

enum { SOME = 8 };

__global__ void by_tile(const float *in, float *out)
{
    __shared__ alignas(16) float s[SOME];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    for (int round = 0; round < 2; round++) {
        cg::memcpy_async(tile, s, in + round * SOME, sizeof s);
        cg::wait(tile);
        out[32 * round + threadIdx.x] = s[threadIdx.x % SOME];
        tile.sync();
    }
}

__global__ void wait_in_turn(const float *in, float *out)
{
    __shared__ float s[SOME];
    int t = threadIdx.x, at = t < SOME ? t : SOME - 1;
    __pipeline_memcpy_async(&s[at], &in[at], sizeof *s);
    __pipeline_commit();
    if (t % 2) __pipeline_wait_prior(0);
    else __pipeline_wait_prior(0), out[t] = 0;
    __syncwarp();
    out[t] = s[t % SOME];
}

__global__ void differ(const float *in, float *out)
{
    __shared__ float s;
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s, &in[t], sizeof s);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s;
}

int main()
{
    float *in, *out;
    OK(cudaMallocManaged(&in, 64 * sizeof *in));
    OK(cudaMallocManaged(&out, 64 * sizeof *out));
    for (int i = 0; i < 64; i++) in[i] = (float)(i + 1);
    by_tile<<<1, 32>>>(in, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(out[i] == in[i / 32 * SOME + i % SOME]);
    wait_in_turn<<<1, 32>>>(in, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) CHECK(out[i] == in[i % SOME]);
    differ<<<1, 32>>>(in, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
