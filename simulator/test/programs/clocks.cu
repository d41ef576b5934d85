// expect: exit 0
// A kernel times itself, waits until a while has gone by, and compares, chooses and counts in ways that need more than
// the plain instructions.
#include "check.h"

enum { N = 96 };

__global__ void timed(long long *took, int *work, int n)
{
    long long start = clock64();
    int sum = 0;
    for (int i = 0; i < n; i++) sum += work[(i + threadIdx.x) % N];
    took[threadIdx.x] = clock64() - start;
    __syncthreads();
    work[threadIdx.x] = sum;
    while (clock64() - start < 20000) {}
}

// It does not measure: each look but those in loops is where a wait begins.
__global__ void waits_twice()
{
    for (int n = 0; n < 2; n++) {
        long long start = clock64();
        while (clock64() - start < 1000) {}
    }
    long long start = clock64();
    while (clock64() - start < 1000) {}
}

__global__ void compare(int *out, const float *x, const int *k)
{
    int t = threadIdx.x;
    out[4 * t] = (x[t] < 0.5f && k[t] > 3) || (x[t] > 2 && !(k[t] & 1));
    out[4 * t + 1] = __dp4a(k[t], 0x01020304, t);
    out[4 * t + 2] = __mul24(k[t], t) + __umul24(k[t], 3);
    out[4 * t + 3] = __isGlobal(out) + 2 * __isShared(out) + 4 * isfinite(1 / x[t]);
}

int main()
{
    int work[N], k[N], out[4 * N], *dwork, *dk, *dout;
    float x[N], *dx;
    long long took[N], *dtook;
    for (int i = 0; i < N; i++) work[i] = i, k[i] = i * 37 % 41, x[i] = i % 5 * 0.7f;
    OK(cudaMalloc(&dwork, sizeof work));
    OK(cudaMalloc(&dk, sizeof k));
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMalloc(&dtook, sizeof took));
    OK(cudaMemcpy(dwork, work, sizeof work, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dk, k, sizeof k, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    waits_twice<<<1, 32>>>();
    timed<<<1, 32>>>(dtook, dwork, N);
    compare<<<1, N>>>(dout, dx, dk);
    OK(cudaMemcpy(took, dtook, 32 * sizeof *took, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) CHECK(took[t] >= N && took[t] < 1000000);
    for (int t = 0; t < N; t++) {
        int b[4] = { k[t] & 255, k[t] >> 8 & 255, 0, 0 };
        CHECK(out[4 * t] == ((x[t] < 0.5f && k[t] > 3) || (x[t] > 2 && !(k[t] & 1))));
        CHECK(out[4 * t + 1] == b[0] * 4 + b[1] * 3 + t);
        CHECK(out[4 * t + 2] == k[t] * t + k[t] * 3);
        CHECK(out[4 * t + 3] == 1 + 4 * (x[t] != 0));
    }
    OK(cudaFree(dwork));
    OK(cudaFree(dk));
    OK(cudaFree(dx));
    OK(cudaFree(dout));
    OK(cudaFree(dtook));
    return 0;
}
