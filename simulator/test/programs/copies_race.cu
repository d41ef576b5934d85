// expect: race 14, race 26
// says: thread (1,0,0) reads what thread (0,0,0) writes in shared memory, with no barrier between
// A copy that its thread waits for, and that another reads with no barrier between; and one that may arrive while others still
// read what it writes over, since nothing stands between their reading and its beginning.
#include <cuda_pipeline.h>
#include "check.h"

__global__ void no_barrier(const float *in, float *out)
{
    __shared__ float s[64];
    if (threadIdx.x % 32 == 0) __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof *s);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (threadIdx.x == 1) out[0] = s[0];
}

__global__ void too_early(const float *in, float *out)
{
    __shared__ float s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof *s);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            out[threadIdx.x] = s[63 - threadIdx.x];
            __pipeline_memcpy_async(&s[threadIdx.x], &in[64 + threadIdx.x], sizeof *s);
            __pipeline_commit();
        }
        __syncthreads();
        __pipeline_wait_prior(0);
        __syncthreads();
    }
    out[threadIdx.x] += s[63 - threadIdx.x];
}

int main()
{
    float *in, *out;
    OK(cudaMallocManaged(&in, 128 * sizeof *in));
    OK(cudaMallocManaged(&out, 64 * sizeof *out));
    no_barrier<<<1, 64>>>(in, out);
    OK(cudaDeviceSynchronize());
    too_early<<<1, 64>>>(in, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
