// expect: unfinished-copy 18, unfinished-copy 19, unfinished-copy 20, unfinished-copy 32, unfinished-copy 43
// says: thread (0,0,0) reads shared memory that an asynchronous copy of thread (0,0,0) goes to, which that has not waited for
// says: thread (0,0,0) writes to shared memory that an asynchronous copy of thread (0,0,0) goes to
// says: thread (0,0,0) copies to shared memory that an asynchronous copy of thread (0,0,0) goes to
// says: thread (0,0,0) reads shared memory that an asynchronous copy of thread (32,0,0) goes to
// says: thread (0,0,0) reads shared memory that an asynchronous copy of thread (3,0,0) goes to
// prints: 0 1 102 3
// Copies that are touched before their threads have waited for them: by the thread itself, by a store, by another copy, and by
// another thread behind a barrier. What is there is what was there before, in every run.
#include <cuda_pipeline.h>
#include "check.h"

__global__ void early(const float *in, float *out)
{
    __shared__ float s[96];
    for (int i = threadIdx.x; i < 96; i += 32) s[i] = 0;
    for (int i = 0; i < 3; i++) __pipeline_memcpy_async(&s[threadIdx.x + 32 * i], &in[threadIdx.x + 32 * i], sizeof *s);
    out[0] = s[threadIdx.x];
    s[threadIdx.x + 32] = 1;
    __pipeline_memcpy_async(&s[threadIdx.x + 64], &in[threadIdx.x], sizeof *s);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (threadIdx.x == 1) out[1] = s[1];
}

__global__ void unwaited(const float *in, float *out)
{
    __shared__ float s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof *s);
    __pipeline_commit();
    __syncthreads();
    if (threadIdx.x == 0) out[2] = s[32];
    __pipeline_wait_prior(0);
    if (threadIdx.x == 3) out[3] = s[3];
}

// The last word of four, each thread's before those of the thread before it.
__global__ void last_word(const float *in)
{
    __shared__ float4 s[8];
    __pipeline_memcpy_async(&s[7 - threadIdx.x], &in[4 * threadIdx.x], sizeof *s);
    __pipeline_commit();
    if (s[4].w == 5) __trap();
    __pipeline_wait_prior(0);
}

// What is right: groups, of which the latest may be under way, and a barrier behind the wait.
__global__ void right(const float *in, float *out)
{
    __shared__ float s[2][64];
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&s[i][threadIdx.x], &in[64 * i + threadIdx.x], sizeof(float));
        __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    float x = s[0][63 - threadIdx.x];
    __pipeline_wait_prior(0);
    __syncthreads();
    if (threadIdx.x == 25) out[2] = x + s[1][63 - threadIdx.x] - 74;
}

int main()
{
    float *in, *out;
    OK(cudaMallocManaged(&in, 128 * sizeof *in));
    OK(cudaMallocManaged(&out, 4 * sizeof *out));
    for (int i = 0; i < 128; i++) in[i] = i;
    early<<<1, 32>>>(in, out);
    unwaited<<<1, 64>>>(in, out);
    last_word<<<1, 8>>>(in);
    right<<<1, 64>>>(in, out);
    OK(cudaDeviceSynchronize());
    printf("%g %g %g %g\n", out[0], out[1], out[2] + 36, out[3]);
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
