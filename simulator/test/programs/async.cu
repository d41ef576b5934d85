// expect: exit 0
// cuda::barrier: producers fill one half of a buffer while consumers add up the other, with two barriers a half; and a whole
// block that meets, and drops out one warp after another. Then products of matrices, whose tiles come by asynchronous copies
// while the ones before them are multiplied: by a cuda::pipeline of a block and of a thread, by cooperative groups, by
// __pipeline_memcpy_async, and by copies that arrive at a cuda::barrier.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline_primitives.h>
#include "check.h"
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

enum { THREADS = 256, HALF = 128, ROUNDS = 9, SIDE = 16, N = 48 };

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

typedef float Tile[SIDE][SIDE];

__device__ float product(const Tile a, const Tile b)
{
    float sum = 0;
    for (int k = 0; k < SIDE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    return sum;
}

#define HERE    (blockIdx.y * SIDE + threadIdx.y) * N + blockIdx.x * SIDE + threadIdx.x
#define OF_A(t) &a[(blockIdx.y * SIDE + threadIdx.y) * N + (t) * SIDE + threadIdx.x]
#define OF_B(t) &b[((t) * SIDE + threadIdx.y) * N + blockIdx.x * SIDE + threadIdx.x]
#define ROW_A(t, r) &a[(blockIdx.y * SIDE + (r)) * N + (t) * SIDE]
#define ROW_B(t, r) &b[((t) * SIDE + (r)) * N + blockIdx.x * SIDE]

__global__ void by_block(float *c, const float *a, const float *b)
{
    __shared__ alignas(16) Tile as[2], bs[2];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int t = 0, next = 0; t < N / SIDE; t++) {
        for (; next < N / SIDE && next < t + 2; next++) {
            pipe.producer_acquire();
            for (int r = 0; r < SIDE; r++) {
                cuda::memcpy_async(block, as[next % 2][r], ROW_A(next, r), cuda::aligned_size_t<16>(sizeof as[0][r]), pipe);
                cuda::memcpy_async(block, bs[next % 2][r], ROW_B(next, r), cuda::aligned_size_t<16>(sizeof bs[0][r]), pipe);
            }
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += product(as[t % 2], bs[t % 2]);
        pipe.consumer_release();
    }
    c[HERE] = sum;
}

__global__ void by_thread(float *c, const float *a, const float *b)
{
    __shared__ Tile as[2], bs[2];
    auto pipe = cuda::make_pipeline();
    float sum = 0;
    for (int t = 0, next = 0; t < N / SIDE; t++) {
        for (; next < N / SIDE && next < t + 2; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&as[next % 2][threadIdx.y][threadIdx.x], OF_A(next), sizeof *a, pipe);
            cuda::memcpy_async(&bs[next % 2][threadIdx.y][threadIdx.x], OF_B(next), sizeof *b, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        sum += product(as[t % 2], bs[t % 2]);
        pipe.consumer_release();
        __syncthreads();
    }
    c[HERE] = sum;
}

__global__ void by_group(float *c, const float *a, const float *b)
{
    __shared__ Tile as, bs;
    auto block = cg::this_thread_block();
    float sum = 0;
    for (int t = 0; t < N / SIDE; t++) {
        for (int r = 0; r < SIDE; r++) {
            cg::memcpy_async(block, as[r], ROW_A(t, r), sizeof as[r]);
            cg::memcpy_async(block, bs[r], ROW_B(t, r), sizeof bs[r]);
        }
        cg::wait(block);
        sum += product(as, bs);
        block.sync();
    }
    c[HERE] = sum;
}

__global__ void by_primitives(float *c, const float *a, const float *b)
{
    __shared__ Tile as[2], bs[2];
    float sum = 0;
    for (int t = -1; t < N / SIDE; t++) {
        int next = t + 1;
        if (next < N / SIDE) {
            __pipeline_memcpy_async(&as[next % 2][threadIdx.y][threadIdx.x], OF_A(next), sizeof *a);
            __pipeline_memcpy_async(&bs[next % 2][threadIdx.y][threadIdx.x], OF_B(next), sizeof *b);
        }
        __pipeline_commit();
        if (t < 0) continue;
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += product(as[t % 2], bs[t % 2]);
        __syncthreads();
    }
    c[HERE] = sum;
}

__global__ void by_barrier(float *c, const float *a, const float *b)
{
    __shared__ Tile as, bs;
    __shared__ barrier full, noinc;
    float sum = 0;
    int x = threadIdx.x, y = threadIdx.y;
    if (x + y == 0) {
        init(&full, SIDE * SIDE);
        init(&noinc, SIDE * SIDE);
    }
    __syncthreads();
    for (int t = 0; t < N / SIDE; t++) {
        cuda::memcpy_async(&as[y][x], OF_A(t), sizeof *a, full);
        full.arrive_and_wait();
        __pipeline_memcpy_async(&bs[y][x], OF_B(t), sizeof *b);
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"((unsigned)__cvta_generic_to_shared(&noinc)) : "memory");
        noinc.wait_parity(t % 2);
        sum += product(as, bs);
        __syncthreads();
    }
    c[HERE] = sum;
}

static void multiply(void (*kernel)(float *, const float *, const float *))
{
    static float a[N * N], b[N * N], c[N * N];
    float *d[3];
    for (int i = 0; i < N * N; i++) a[i] = i * 13 % 31 - 15, b[i] = i * 7 % 29 - 14;
    for (int n = 0; n < 3; n++) OK(cudaMalloc(&d[n], sizeof a));
    OK(cudaMemcpy(d[1], a, sizeof a, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(d[2], b, sizeof b, cudaMemcpyHostToDevice));
    kernel<<<dim3(N / SIDE, N / SIDE), dim3(SIDE, SIDE)>>>(d[0], d[1], d[2]);
    OK(cudaMemcpy(c, d[0], sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N * N; i++) {
        float due = 0;
        for (int k = 0; k < N; k++) due += a[i / N * N + k] * b[k * N + i % N];
        CHECK(c[i] == due);
    }
    for (int n = 0; n < 3; n++) OK(cudaFree(d[n]));
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
    multiply(by_block);
    multiply(by_thread);
    multiply(by_group);
    multiply(by_primitives);
    multiply(by_barrier);
    return 0;
}
