// expect: exit 0
// Programs between blocks, and within one, that the memory model orders: nothing here may be called a race.
#include "check.h"
#include "atomic.h"

enum { BLOCKS = 24, THREADS = 96, N = BLOCKS * THREADS };

// The last block to finish adds up what all have left (CUDA C++ Programming Guide, "Memory Fence Functions").
__global__ void last_block(const int *in, int *partial, unsigned *count, int *out, bool all_fence)
{
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * THREADS + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x / 2 == 20) partial[2 * blockIdx.x + threadIdx.x % 2] = threadIdx.x % 2 ? 0 : sum;
    if (all_fence) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (!all_fence) __threadfence();
        last = atomicInc(count, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last) return;
    if (threadIdx.x < 32) {
        int all = 0;
        for (int i = threadIdx.x; i < 2 * BLOCKS; i += 32) all += partial[i];
        for (int d = 16; d; d /= 2) all += __shfl_down_sync(~0u, all, d);
        if (threadIdx.x == 0) *out = all;
    }
}

// The same with totals that all blocks add to, and that the last one hands over and empties for the next launch.
__global__ void last_of_totals(int *totals, unsigned *count, int *out, bool all_fence)
{
    __shared__ bool last;
    atomicAdd(&totals[threadIdx.x], blockIdx.x);
    atomicAdd(&totals[THREADS + threadIdx.x % 3], 1);
    if (all_fence) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> drawn(*count);
        auto order = all_fence ? cuda::memory_order_relaxed : cuda::memory_order_acq_rel;
        last = drawn.fetch_add(1, order) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last) return;
    if (all_fence) __threadfence();
    int back = THREADS - 1 - threadIdx.x;
    out[back] = totals[back];
    totals[back] = 0;
    if (threadIdx.x < 3) {
        out[THREADS + threadIdx.x] = totals[THREADS + threadIdx.x];
        totals[THREADS + threadIdx.x] = 0;
    }
    if (threadIdx.x == 0) *count = 0;
}

// Each block takes over from the one before it: a flag for each, behind data of its own.
__global__ void chain(int *data, int *flags, int *out)
{
    __shared__ int before;
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        before = 0;
        if (b) {
            while (atomicAdd(&flags[b - 1], 0) == 0) continue;
            __threadfence();
            before = data[b - 1];
        }
        data[b] = before + b;
        __threadfence();
        atomicExch(&flags[b], 1);
    }
    __syncthreads();
    out[b * THREADS + threadIdx.x] = before;
}

// The same with acquire and release, each thread reading all that came before.
__global__ void acquired(int *data, int *flags, int *out)
{
    int b = blockIdx.x, sum = 0;
    if (b && threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[b - 1]);
        while (!flag.load(cuda::memory_order_acquire)) continue;
    }
    __syncthreads();
    for (int i = 0; i < b; i++) sum += data[i * THREADS + threadIdx.x];
    data[b * THREADS + threadIdx.x] = 1;
    out[b * THREADS + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[b]);
        flag.store(1, cuda::memory_order_release);
    }
}

// Keeps the multiples of 3, in place: what a block stores to, the blocks before it have read, and its barrier stands behind
// that. The flags are all the data that they pass on, so they need no fence (CUB's DeviceSelect).
__global__ void in_place(int *data, int *flags)
{
    __shared__ int counts[THREADS + 1], base;
    int value = data[blockIdx.x * THREADS + threadIdx.x];
    counts[threadIdx.x + 1] = value % 3 == 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x]);
        base = 0;
        if (blockIdx.x) {
            cuda::atomic_ref<int, cuda::thread_scope_device> before(flags[blockIdx.x - 1]);
            while (!(base = before.load(cuda::memory_order_relaxed))) continue;
            base--;
        }
        counts[0] = 0;
        for (int i = 0; i < THREADS; i++) counts[i + 1] += counts[i];
        mine.store(1 + base + counts[THREADS], cuda::memory_order_relaxed);
    }
    __syncthreads();
    if (value % 3 == 0) data[base + counts[threadIdx.x]] = value;
}

// A lock around a plain counter, taken by a thread of each warp.
__global__ void locked(int *lock, int *counter)
{
    if (threadIdx.x % 32) return;
    while (atomicCAS(lock, 0, 1)) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// A lock that lanes of one warp take one after another.
__global__ void locked_in_warp(int *lock, int *counter)
{
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Warps of a block, over shared memory.
__global__ void warps(int *out)
{
    __shared__ int value[THREADS];
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x >= 32 && threadIdx.x < 64) {
        value[threadIdx.x] = threadIdx.x;
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 32) *(volatile int *)&ready = 1;
    } else if (threadIdx.x < 32) {
        while (*(volatile int *)&ready == 0) continue;
        __threadfence_block();
        out[blockIdx.x * 32 + threadIdx.x] = value[32 + threadIdx.x];
    }
}

// Neighbours in a word, in a line, and in rows that no line begins with; in place; through volatile pointers; all the same value.
__global__ void beside(unsigned char *bytes, double *rows, int *in_place, volatile int *v, int *same, int *strided)
{
    int i = blockIdx.x * THREADS + threadIdx.x, back = N - 1 - i;
    bytes[i] = i;
    bytes[N + back] = i;
    rows[7 + i] = i;
    in_place[i] += 1;
    in_place[i] *= 2;
    v[threadIdx.x] = i;
    same[threadIdx.x % 8] = 5;
    same[threadIdx.x * 7 % 8] = 5;
    strided[(i % 48) * 48 + i / 48] = i;
    strided[N + back] = i;
}

// Blocks write the bytes of one word, beside words that other blocks write.
__global__ void bytes_beside_words(unsigned char *p)
{
    int b = blockIdx.x, t = threadIdx.x;
    if (t < 4) p[BLOCKS * t + b] = b;
    if (t == 4 && b < 8) ((int *)p)[64 + b] = b;
    if (t == 4 && b >= 8) p[4 * 72 + b] = b;
}

// A look without an order first, then one that acquires.
__global__ void looked_before(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        int seen;
        while (*(volatile int *)flag == 0) continue;
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *out = *data + seen;
    } else {
        *data = 1;
        __threadfence();
        *(volatile int *)flag = 1;
    }
}

// Lanes of a warp hand over in global memory, with __syncwarp() between.
__global__ void lanes(int *a)
{
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    a[i] = t;
    __syncwarp();
    int x = a[i ^ 1];
    __syncwarp();
    a[i] = x;
    __syncthreads();
    x = a[blockIdx.x * THREADS + (t + 40) % THREADS];
    __syncthreads();
    a[i] = x;
}

// One warp takes another block's data over, and tells the others of its block by a flag and fences for the block alone.
__global__ void told_on(int *data, int *flag, int *out)
{
    __shared__ int told;
    if (blockIdx.x == 0) {
        if (threadIdx.x) return;
        *data = 9;
        __threadfence();
        atomicExch(flag, 1);
        return;
    }
    if (threadIdx.x == 0) told = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) continue;
        __threadfence();
        __threadfence_block();
        *(volatile int *)&told = 1;
    } else if (threadIdx.x == 32) {
        while (*(volatile int *)&told == 0) continue;
        __threadfence_block();
        *out = *data;
    }
}

// A loop around compare-and-swap begins with a plain load.
__global__ void swap(int *sum)
{
    int old = *sum, seen;
    do {
        seen = old;
        old = atomicCAS(sum, seen, seen + 1);
    } while (old != seen);
}

int main()
{
    int *a, *b, *c, *d, host[N];
    unsigned *count;
    OK(cudaMalloc(&a, 3 * N * sizeof *a));
    OK(cudaMalloc(&b, 3 * N * sizeof *a));
    OK(cudaMalloc(&c, 3 * N * sizeof *a));
    OK(cudaMalloc(&d, 3 * N * sizeof *a));
    OK(cudaMalloc(&count, 4));
    for (int i = 0; i < N; i++) host[i] = i % 7;
    OK(cudaMemset(count, 0, 4));
    for (int all_fence = 0; all_fence < 2; all_fence++) {
        OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
        last_block<<<BLOCKS, THREADS>>>(a, b, count, c, all_fence);
        int sum = 0, due = 0;
        for (int i = 0; i < N; i++) due += i % 7;
        OK(cudaMemcpy(&sum, c, sizeof sum, cudaMemcpyDeviceToHost));
        CHECK(sum == due);
        OK(cudaMemset(b, 0, (THREADS + 3) * sizeof *b));
        for (int launch = 0; launch < 2; launch++) {
            last_of_totals<<<BLOCKS, THREADS>>>(b, count, c, all_fence);
            OK(cudaMemcpy(host, c, (THREADS + 3) * sizeof *c, cudaMemcpyDeviceToHost));
            for (int i = 0; i < THREADS; i++) CHECK(host[i] == BLOCKS * (BLOCKS - 1) / 2);
            for (int i = THREADS; i < THREADS + 3; i++) CHECK(host[i] == BLOCKS * THREADS / 3);
        }
        for (int i = 0; i < N; i++) host[i] = i % 7;
    }
    OK(cudaMemset(b, 0, BLOCKS * sizeof *b));
    chain<<<BLOCKS, THREADS>>>(a, b, c);
    OK(cudaMemset(b, 0, BLOCKS * sizeof *b));
    acquired<<<BLOCKS, THREADS>>>(a, b, c);
    OK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[N - 1] == BLOCKS - 1);
    for (int i = 0; i < N; i++) host[i] = i;
    OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemset(b, 0, BLOCKS * sizeof *b));
    in_place<<<BLOCKS, THREADS>>>(a, b);
    OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] == (i < N / 3 ? 3 * i : i));
    OK(cudaMemset(a, 0, 8));
    OK(cudaMemset(b, 0, 8));
    locked<<<BLOCKS, THREADS>>>(a, b);
    locked_in_warp<<<2, 32>>>(a, b);
    swap<<<BLOCKS, THREADS>>>(b);
    OK(cudaMemcpy(host, b, 4, cudaMemcpyDeviceToHost));
    CHECK(host[0] == BLOCKS * THREADS / 32 + 64 + N);
    warps<<<BLOCKS, THREADS>>>(c);
    OK(cudaMemset(c, 0, N * sizeof *c));
    double *rows;
    OK(cudaMalloc(&rows, (N + 7) * sizeof *rows));
    beside<<<BLOCKS, THREADS>>>((unsigned char *)a, rows, c, b, d, d + 8);
    lanes<<<BLOCKS, THREADS>>>(a);
    bytes_beside_words<<<BLOCKS, THREADS>>>((unsigned char *)a);
    OK(cudaMemset(c, 0, 4));
    looked_before<<<2, 32>>>(a, c, c + 100);
    OK(cudaMemset(b, 0, 4));
    told_on<<<2, 64>>>(a, b, c);
    OK(cudaMemcpy(host, c, 4, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 9);
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(c));
    OK(cudaFree(d));
    OK(cudaFree(rows));
    OK(cudaFree(count));
    return 0;
}
