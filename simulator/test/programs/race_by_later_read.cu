// expect: race 21, race 37, race 49, race 68, race 76, race 77, race 78
// Reads that add something to what is remembered of others, at the same place or right behind them.
#include "check.h"

static __device__ void tell(int *flag) { asm volatile("st.release.gpu.s32 [%0], 1;" :: "l"(flag) : "memory"); }

static __device__ void hear(int *flag)
{
    int seen;
    do asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (!seen);
}

static __device__ void use(int value) { asm volatile("" :: "r"(value) : "memory"); }

// Weak, behind a strong one.
__global__ void weaker(int *x, int *flag)
{
    if (blockIdx.x == 0) {
        use(*(volatile int *)x);
        use(*x);                                                // 21
    } else {
        *(volatile int *)x = 2;
    }
}

// Behind what the warp told the other one, which stores there.
__global__ void in_shared(int *x, int *flag)
{
    __shared__ __align__(128) int data[32], told;
    if (threadIdx.x == 0) told = data[0] = data[1] = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        use(data[0]);
        if (threadIdx.x == 0) tell(&told);
        __syncwarp();
        use(data[1]);                                           // 37
    } else {
        hear(&told);
        if (threadIdx.x == 32) data[1] = 1;
    }
}

__global__ void in_global(int *x, int *flag)
{
    if (blockIdx.x == 0) {
        use(x[2 * threadIdx.x]);
        tell(flag);
        use(x[2 * threadIdx.x + 1]);                            // 49
    } else {
        hear(flag);
        x[2 * threadIdx.x + 1] = 1;
    }
}

// As many as are remembered have heard of the store, and the last has not.
__global__ void unheard(int *x, int *flag)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        x[t] = 1;
        __syncwarp();
        tell(flag);
    } else if (blockIdx.x < 17) {
        hear(flag);
        use(x[t]);
    } else {
        use(x[t]);                                              // 68
    }
}

// Three have read all of a chunk, so that nobody need look who else does; then it is stored to, read and stored to.
__global__ void stored(int *x, int *flag)
{
    int t = threadIdx.x;
    if (blockIdx.x < 3) for (int n = 0; n < 2048; n += 32) use(x[n + t]);       // 76
    else if (blockIdx.x % 2) use(x[t]);                         // 77
    else x[t] = blockIdx.x;                                     // 78
}

int main()
{
    int *x, *flag;
    OK(cudaMalloc(&x, 8192));
    OK(cudaMalloc(&flag, sizeof *flag));
#define RUN(kernel, blocks, threads) OK(cudaMemset(x, 0, 8192)); OK(cudaMemset(flag, 0, sizeof *flag)); \
    kernel<<<blocks, threads>>>(x, flag); OK(cudaDeviceSynchronize())
    RUN(weaker, 2, 1);
    RUN(in_shared, 1, 64);
    RUN(in_global, 2, 32);
    RUN(unheard, 18, 32);
    RUN(stored, 7, 32);
    OK(cudaFree(x));
    OK(cudaFree(flag));
    return 0;
}
