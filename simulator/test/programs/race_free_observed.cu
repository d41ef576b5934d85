// expect: exit 0
// Who has read, strongly, what another wrote there may write or read the place plainly afterwards: PTX's causality order has that write before
// what follows the read, fences or none (observation order). So flags and counters are cleared by who waited for them.
#include "check.h"

enum { BLOCKS = 24, THREADS = 64 };
enum { FLAG, COUNTER, OUT, WORDS };

static __device__ int look(const int *at) { return *(const volatile int *)at; }

// Block 0 waits for all others, more than there are places for whose writes are remembered one by one.
__global__ void count_and_clear(int *words)
{
    if (blockIdx.x) {
        if (threadIdx.x == 0) atomicAdd(&words[COUNTER], 1);
        return;
    }
    if (threadIdx.x == 0) {
        while (look(&words[COUNTER]) != BLOCKS - 1) {}
        words[COUNTER] = 0;
    }
}

enum how { STORES, READS, OTHER_THREAD, HOWS };

template <int HOW> __global__ void hand_over(int *words, bool adds)
{
    if (blockIdx.x) {
        if (threadIdx.x == 0 && adds) atomicExch(&words[FLAG], 1);
        if (threadIdx.x == 0 && !adds) *(volatile int *)&words[FLAG] = 1;
        return;
    }
    if (threadIdx.x == 0) while (look(&words[FLAG]) != 1) {}
    if (HOW == OTHER_THREAD) __syncthreads();
    if (threadIdx.x == (HOW == OTHER_THREAD ? 33 : 0)) {
        if (HOW == READS) words[OUT] = words[FLAG];
        else words[FLAG] = 0;
    }
}

__global__ void in_shared(int *out)
{
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) atomicAdd(&flag, 1);
    if (threadIdx.x == 0) {
        while (look(&flag) != 1) {}
        flag = 0;
        out[OUT] = 1;
    }
}

// Some warps alone meet behind the read; the third waits until they are done.
__global__ void at_a_barrier_of_some(int *words)
{
    if (blockIdx.x) {
        if (threadIdx.x == 0) atomicAdd(&words[FLAG], 1);
        return;
    }
    if (threadIdx.x == 64) while (look(&words[COUNTER]) != 1) {}
    if (threadIdx.x >= 64) return;
    if (threadIdx.x == 0) while (look(&words[FLAG]) != 1) {}
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    if (threadIdx.x != 32) return;
    words[FLAG] = 0;
    atomicExch(&words[COUNTER], 1);
}

int main()
{
    int *words;
    OK(cudaMalloc(&words, sizeof(int) * WORDS));
    OK(cudaMemset(words, 0, sizeof(int) * WORDS));
    count_and_clear<<<BLOCKS, THREADS>>>(words);
    for (int adds = 0; adds < 2; adds++) {
        OK(cudaMemset(words, 0, sizeof(int) * WORDS));
        hand_over<STORES><<<2, THREADS>>>(words, adds);
        hand_over<OTHER_THREAD><<<2, THREADS>>>(words, adds);
        hand_over<READS><<<2, THREADS>>>(words, adds);
    }
    OK(cudaMemset(words, 0, sizeof(int) * WORDS));
    in_shared<<<1, THREADS>>>(words);
    at_a_barrier_of_some<<<2, 96>>>(words);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(words));
}
