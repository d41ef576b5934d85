// expect: race 18, race 30, race 43, exit 0
// Who has read a flag knows of that write, and of no other: not of what its writer did elsewhere, nor of what is written there
// later.
#include "check.h"

enum { FLAG, DATA, OTHER, LAST, OUT, WORDS };

static __device__ int look(const int *at) { return *(const volatile int *)at; }

__global__ void elsewhere(int *words)
{
    if (threadIdx.x) return;
    if (blockIdx.x) {
        atomicExch(&words[DATA], 1);
        atomicExch(&words[FLAG], 1);
    } else {
        while (look(&words[FLAG]) != 1) {}
        words[DATA] = 0;
    }
}

// The second write comes behind the read.
__global__ void later(int *words)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        while (look(&words[FLAG]) != 1) {}
        atomicExch(&words[OTHER], 1);
        while (look(&words[LAST]) != 1) {}
        words[FLAG] = 3;
    } else {
        atomicExch(&words[FLAG], 1);
        while (look(&words[OTHER]) != 1) {}
        atomicAdd(&words[FLAG], 1);
        atomicExch(&words[LAST], 1);
    }
}

// Adds, and reads nothing: that it does so last is chance.
__global__ void adds_itself(int *words)
{
    atomicAdd(&words[DATA], threadIdx.x);
    if (blockIdx.x && threadIdx.x == 0) words[OUT] = words[DATA];
}

int main()
{
    int *words;
    OK(cudaMalloc(&words, sizeof(int) * WORDS));
    void (*const kernels[])(int *) = { elsewhere, later, adds_itself };
    for (auto kernel : kernels) {
        OK(cudaMemset(words, 0, sizeof(int) * WORDS));
        kernel<<<2, 32>>>(words);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaFree(words));
}
