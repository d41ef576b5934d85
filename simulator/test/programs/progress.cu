// expect: exit 0
// Threads that wait for each other by what they read, and get on in the end: warps of a block, blocks that wait for earlier
// ones and for later ones, all blocks at once, a chain of partial sums, a last block that sums up, lanes in a lock.
#include "check.h"

enum { BLOCKS = 300, THREADS = 64, N = BLOCKS * THREADS };

__device__ int load(const int *p) { int v; asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void store(int *p, int v) { asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }

// Warp 0 waits for warp 1, which waits for warp 0's answer.
__global__ void warps(int *out)
{
    __shared__ volatile int flag[2];
    if (threadIdx.x < 2) flag[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (flag[0] == 0) continue;
        flag[1] = flag[0] + 1;
    } else if (threadIdx.x == 32) {
        flag[0] = 41;
        while (flag[1] == 0) __nanosleep(100);
        *out = flag[1];
    }
}

// Each block waits for the one behind it; the last begins.
__global__ void backwards(int *value)
{
    int b = blockIdx.x;
    if (threadIdx.x) return;
    int behind = b + 1 == gridDim.x ? 1 : 0;
    while (behind == 0) behind = load(&value[b + 1]);
    store(&value[b], behind + b);
}

// Blocks that are numbered as they begin give partial sums to those behind them.
__global__ void scan(int *out, const int *in, int *sums, int *ready, int *ticket)
{
    __shared__ int values[THREADS], number, before;
    if (threadIdx.x == 0) number = atomicAdd(ticket, 1);
    __syncthreads();
    int i = number * THREADS + threadIdx.x;
    values[threadIdx.x] = in[i];
    for (int step = 1; step < THREADS; step *= 2) {
        __syncthreads();
        int other = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
        __syncthreads();
        values[threadIdx.x] += other;
    }
    if (threadIdx.x == THREADS - 1) {
        before = 0;
        if (number) {
            while (!load(&ready[number - 1])) continue;
            before = sums[number - 1];
        }
        sums[number] = before + values[threadIdx.x];
        store(&ready[number], 1);
    }
    __syncthreads();
    out[i] = before + values[threadIdx.x];
}

// All blocks meet, ten times: each then reads what its neighbour wrote.
__global__ void meet(int *cells, int *arrived)
{
    int b = blockIdx.x, blocks = gridDim.x;
    for (int round = 0; round < 10; round++) {
        int *from = cells + round % 2 * blocks, *to = cells + (round + 1) % 2 * blocks;
        if (threadIdx.x == 0) {
            to[b] = from[(b + 1) % blocks] + 1;
            __threadfence();
            atomicAdd(arrived, 1);
            while (load(arrived) < (round + 1) * blocks) continue;
        }
        __syncthreads();
    }
}

// Two blocks that hand a number back and forth.
__global__ void ping_pong(int *ball)
{
    if (threadIdx.x) return;
    for (int n = blockIdx.x; n < 200; n += 2) {
        while (load(ball) != n) continue;
        store(ball, n + 1);
    }
}

__global__ void last_block(int *out, const int *in, int *sums, unsigned *done)
{
    __shared__ int sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * THREADS + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x) return;
    __threadfence();
    for (int b = 0, total = 0; b < gridDim.x; b++) *out = total += sums[b];
}

// A lock that every lane of every block fights for, and a second that is only taken within the first.
__global__ void locks(int *lock, int *count)
{
    for (bool done = false; !done;) {
        if (atomicCAS(&lock[0], 0, 1) == 0) {
            __threadfence();
            while (atomicExch(&lock[1], 1)) continue;
            *(volatile int *)count += 1;
            __threadfence();
            atomicExch(&lock[1], 0);
            atomicExch(&lock[0], 0);
            done = true;
        }
    }
}

static int *fresh(int count)
{
    int *p;
    OK(cudaMalloc(&p, count * sizeof *p));
    OK(cudaMemset(p, 0, count * sizeof *p));
    return p;
}

int main()
{
    static int in[N], out[N];
    int *din = fresh(N), *dout = fresh(N), *a = fresh(2 * BLOCKS), *b = fresh(2 * BLOCKS), value;
    for (int i = 0; i < N; i++) in[i] = i * 37 % 101;
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));

    warps<<<1, 64>>>(dout);
    OK(cudaMemcpy(&value, dout, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 42);

    backwards<<<BLOCKS, 32>>>(a);
    OK(cudaMemcpy(out, a, BLOCKS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = BLOCKS - 1, want = 1; i >= 0; i--) CHECK(out[i] == (want += i));

    OK(cudaMemset(b, 0, 2 * BLOCKS * sizeof *b));
    scan<<<BLOCKS, THREADS>>>(dout, din, a, b, b + BLOCKS);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0, want = 0; i < N; i++) CHECK(out[i] == (want += in[i]));

    OK(cudaMemset(a, 0, 2 * BLOCKS * sizeof *a));
    OK(cudaMemset(b, 0, sizeof *b));
    meet<<<BLOCKS, THREADS>>>(a, b);
    OK(cudaMemcpy(out, a, BLOCKS * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS; i++) CHECK(out[i] == 10);

    OK(cudaMemset(b, 0, sizeof *b));
    ping_pong<<<2, 32>>>(b);
    OK(cudaMemcpy(&value, b, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 200);

    OK(cudaMemset(b, 0, sizeof *b));
    last_block<<<BLOCKS, THREADS>>>(dout, din, a, (unsigned *)b);
    OK(cudaMemcpy(out, dout, sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) out[0] -= in[i];
    CHECK(out[0] == 0);

    OK(cudaMemset(b, 0, 3 * sizeof *b));
    locks<<<5, 96>>>(b, b + 2);
    OK(cudaMemcpy(out, b, 3 * sizeof *out, cudaMemcpyDeviceToHost));
    CHECK(out[0] == 0 && out[1] == 0 && out[2] == 5 * 96);

    OK(cudaFree(din));
    OK(cudaFree(dout));
    OK(cudaFree(a));
    OK(cudaFree(b));
    return 0;
}
