// expect: bounds 51
// run: --bare --threads 1
// prints: same 1
// Where nobody looks on, the warps of a block run in step for as long as they stand at one instruction with all their lanes.
// Here they part and meet again: by lane, by warp, in loops of unequal and of many turns, at an early end,
// and at barriers.
#include "check.h"
#include <string.h>

enum { BLOCKS = 5, THREADS = 200, N = BLOCKS * THREADS - 70, TURNS = 10000 };

__global__ void part(int *out, const int *in, int n)
{
    __shared__ int left[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, sum = 0;
    if (i >= n) return;
    for (int k = 0; k < TURNS; k++) sum += k ^ t;
    if (t % 3 == 0) sum += in[i];
    if (t / 32 % 2) sum -= in[(i + 1) % n];
    for (int k = 0; k < t / 32 + t % 5; k++) sum = sum * 3 + k;
    left[t] = sum % 7 ? 2 * sum : sum - 1;
    __syncthreads();
    sum += left[(t + 32) % blockDim.x < n - blockIdx.x * blockDim.x ? (t + 32) % blockDim.x : t];
    __syncthreads();
    left[t] = sum;
    out[i] = t;
    if (blockIdx.x == 0 && t >= 96) return;
    out[i] = left[t] + (n ^ 77) * 3;
}

static void part_on_host(int *out, const int *in)
{
    const int n = N;
    for (int b = 0; b < BLOCKS; b++) {
        int sum[THREADS], left[THREADS];
        for (int t = 0; t < THREADS && b * THREADS + t < n; t++) {
            unsigned s = 0, i = b * THREADS + t;
            for (int k = 0; k < TURNS; k++) s += k ^ t;
            if (t % 3 == 0) s += in[i];
            if (t / 32 % 2) s -= in[(i + 1) % n];
            for (int k = 0; k < t / 32 + t % 5; k++) s = s * 3 + k;
            sum[t] = s;
            left[t] = sum[t] % 7 ? 2 * s : s - 1;
        }
        for (int t = 0; t < THREADS && b * THREADS + t < n; t++)
            out[b * THREADS + t] = (unsigned)sum[t] + left[(t + 32) % THREADS < n - b * THREADS ? (t + 32) % THREADS : t] + (N ^ 77) * 3;
        for (int t = 96; b == 0 && t < THREADS; t++) out[t] = t;
    }
}

__global__ void beyond(int *out) { out[threadIdx.x / 32 == 4 ? 1 << 20 : threadIdx.x] = 1; }

int main()
{
    static int numbers[N], want[N], got[N];
    int *in, *out;
    for (int k = 0; k < N; k++) numbers[k] = k * 7919 % 1009;
    part_on_host(want, numbers);
    OK(cudaMalloc(&in, sizeof got));
    OK(cudaMalloc(&out, sizeof got));
    OK(cudaMemcpy(in, numbers, sizeof got, cudaMemcpyHostToDevice));
    part<<<BLOCKS, THREADS>>>(out, in, N);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    printf("same %d\n", memcmp(got, want, sizeof got) == 0);
    beyond<<<1, 256>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}
