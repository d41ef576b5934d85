// expect: exit 0
// Numbers of 128 bits, which the compiler makes of chains of carries, against what the host gives.
#include "check.h"

typedef unsigned __int128 u128;
enum { N = 64, KINDS = 5 };

__host__ __device__ static void work(u128 *o, u128 a, u128 b)
{
    o[0] = a + b;
    o[1] = a - b;
    o[2] = a * b;
    o[3] = a * a + b;
    o[4] = -a * (b | 1) - a;
}

__global__ void kernel(u128 *o, const u128 *in) { work(o + KINDS * threadIdx.x, in[threadIdx.x], in[N - 1 - threadIdx.x]); }

int main()
{
    static u128 in[N], out[N * KINDS], want[KINDS];
    u128 *din, *dout;
    for (int i = 0; i < N; i++) in[i] = i % 3 ? ~(u128)i : (u128)0x9e3779b97f4a7c15 * i << i;
    OK(cudaMalloc(&din, sizeof in));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    kernel<<<1, N>>>(dout, din);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        work(want, in[i], in[N - 1 - i]);
        for (int k = 0; k < KINDS; k++) CHECK(out[KINDS * i + k] == want[k]);
    }
    OK(cudaFree(din));
    OK(cudaFree(dout));
    return 0;
}
