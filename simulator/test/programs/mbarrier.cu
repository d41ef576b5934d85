// expect: exit 0
// cuda::barrier: producers fill one half of a buffer while consumers add up the other, with two barriers a half; and a whole
// block that meets, arrives for others, and drops out one warp after another.
#include <cuda/barrier>
#include "check.h"
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

enum { THREADS = 256, HALF = 128, ROUNDS = 9 };

__global__ void pipeline(const int *in, int *sum)
{
    __shared__ barrier full[2], empty[2];
    __shared__ int part[2][HALF];
    int t = threadIdx.x % HALF, total = 0;
    if (threadIdx.x < 2) {
        init(&full[threadIdx.x], THREADS);
        init(&empty[threadIdx.x], THREADS);
    }
    __syncthreads();
    if (threadIdx.x < HALF) {
        for (int r = 0; r < ROUNDS; r++) {
            if (r >= 2) empty[r % 2].arrive_and_wait();
            part[r % 2][t] = in[r * HALF + t];
            (void)full[r % 2].arrive();
        }
    } else {
        for (int r = 0; r < ROUNDS; r++) {
            full[r % 2].arrive_and_wait();
            total += part[r % 2][HALF - 1 - t] * (r + 1);
            if (r + 2 < ROUNDS) (void)empty[r % 2].arrive();
        }
        sum[t] = total;
    }
}

__global__ void meet(int *out)
{
    __shared__ barrier all;
    __shared__ int data[THREADS];
    int t = threadIdx.x, warps = THREADS / 32;
    if (t == 0) init(&all, THREADS);
    __syncthreads();
    for (int r = 0; r < warps; r++) {
        if (t / 32 == r) {
            all.arrive_and_drop();
            return;
        }
        data[t] = t * r;
        barrier::arrival_token token = all.arrive();
        all.wait(std::move(token));
        out[t] += data[THREADS - 1 - (THREADS - 1 - t) % (THREADS - 32 * (r + 1))];
        all.arrive_and_wait();
    }
}

int main()
{
    int *in, *sum, host[ROUNDS * HALF], got[THREADS];
    for (int i = 0; i < ROUNDS * HALF; i++) host[i] = 7 * i % 1013;
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&sum, sizeof got));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    pipeline<<<1, THREADS>>>(in, sum);
    OK(cudaMemcpy(got, sum, HALF * sizeof *got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < HALF; t++) {
        int due = 0;
        for (int r = 0; r < ROUNDS; r++) due += host[r * HALF + HALF - 1 - t] * (r + 1);
        CHECK(got[t] == due);
    }
    OK(cudaMemset(sum, 0, sizeof got));
    meet<<<1, THREADS>>>(sum);
    OK(cudaMemcpy(got, sum, sizeof got, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        int due = 0;
        for (int r = 0; r < t / 32; r++) due += (THREADS - 1 - (THREADS - 1 - t) % (THREADS - 32 * (r + 1))) * r;
        CHECK(got[t] == due);
    }
    OK(cudaFree(in));
    OK(cudaFree(sum));
    return 0;
}
