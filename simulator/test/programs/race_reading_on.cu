// expect: race 13, race 13, race 42, race 42
// As many as are remembered have read all of some memory, so that nobody need look at who reads on; until one of them has told that it
// has read, and reads again: then it races with the block that writes there, which all of them have told. So does a warp that reads
// behind the block's barrier with another one that writes, and so does another block, of whose read nothing is known.
#include "check.h"

enum { READERS = 16, ROWS = 128 };

static __device__ __noinline__ int read(const int *x)
{
    int sum = 0;
#pragma unroll 1
    for (int n = 0; n < ROWS; n++) sum += x[32 * n + threadIdx.x];      // 13
    return sum;
}

enum how { RELEASE, FENCE };

template <how how> __global__ void tell(int *x, int *flag, int *out)
{
    int b = blockIdx.x;
    if (b < READERS) {
        int sum = 0;
        for (int again = 0; again < 3; again++) {
            sum += read(x);
            __syncwarp();
        }
        if (how == RELEASE) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag + b) : "memory");
        else __threadfence();
        if (b == READERS - 1) sum += read(x);
        if (how == FENCE) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" :: "l"(flag + b) : "memory");
        out[32 * b + threadIdx.x] = sum;
    } else {
        for (int n = 0, seen; n < READERS; n++)
            do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag + n) : "memory"); while (!seen);
        for (int n = 0; n < ROWS; n++) x[32 * n + threadIdx.x] = n;
    }
}

static __device__ __noinline__ int read_line(const int *x)
{
    return x[threadIdx.x % 32];                                         // 42
}

__global__ void within(int *x, int *total, int *out)
{
    int warp = threadIdx.x / 32, sum = warp < READERS ? read_line(x) : 0;
    __syncthreads();
    if (warp < READERS) sum += read_line(x);
    else x[threadIdx.x % 32] = 1, sum = atomicAdd(total, 1);
    out[threadIdx.x] = sum;
}

__global__ void beside(int *x, volatile int *flag, int *out)
{
    int warp = threadIdx.x / 32, sum = warp < (blockIdx.x ? 1 : READERS) ? read_line(x) : 0;
    if (blockIdx.x) {
        out[READERS * 32 + 32 + threadIdx.x] = sum;
        *flag = 1;
        return;
    }
    __syncthreads();
    if (warp == READERS) {
        while (!*flag);
        x[threadIdx.x % 32] = 1;
    }
    out[threadIdx.x] = sum;
}

int main()
{
    int *x, *flag, *out;
    OK(cudaMalloc(&x, ROWS * 128));
    OK(cudaMalloc(&flag, 4 * READERS * sizeof *flag));
    OK(cudaMalloc(&out, 2 * (READERS + 1) * 128));
    OK(cudaMemset(x, 0, ROWS * 128));
    OK(cudaMemset(flag, 0, 4 * READERS * sizeof *flag));
    tell<RELEASE><<<READERS + 1, 32>>>(x, flag, out);
    tell<FENCE><<<READERS + 1, 32>>>(x, flag + READERS, out);
    within<<<1, (READERS + 1) * 32>>>(x, flag + 2 * READERS, out);
    beside<<<2, (READERS + 1) * 32>>>(x, flag + 3 * READERS, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(flag));
    OK(cudaFree(out));
    return 0;
}
