// expect: race 21, race 21
// says: of block (5,0,0) reads what thread (0,0,0) of block (17,0,0) writes
// As many blocks as are remembered read all of some memory, so that nobody need look at who reads on, and tell the last one, which writes
// there. One of them reads it again, behind what it has heard since, be it that it was released or not.
#include "check.h"

enum { READERS = 16, ROWS = 64, AGAIN = 5 };

__device__ int come, go, late;

static __device__ void wait_for(int *place, int wanted)
{
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(place) : "memory");
    while (seen < wanted);
}

static __device__ __noinline__ int read(const int *x)
{
    int sum = 0;
    for (int n = 0; n < ROWS; n++) sum += x[32 * n + threadIdx.x];      // 21
    return sum;
}

template <bool RELEASED> __global__ void meet(int *x, int *out)
{
    int b = blockIdx.x;
    if (b < READERS) {
        int sum = read(x);
        __threadfence();
        atomicAdd(&come, 1);
        if (b == AGAIN) wait_for(&go, 1), sum += read(x), atomicExch(&late, 1);
        out[32 * b + 32 + threadIdx.x] = sum;
    } else if (b == READERS) {
        wait_for(&come, 32 * READERS);
        int sum = read(x);
        asm volatile("" ::: "memory");
        out[threadIdx.x] = sum + read(x);       // nobody looks at these any more
        if (RELEASED) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(&go) : "memory");
        else asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" :: "l"(&go) : "memory");
    } else {
        wait_for(&come, 32 * READERS);
        wait_for(&go, 1);
        wait_for(&late, 1);
        x[threadIdx.x] = 1;
    }
}

int main()
{
    int *x, *out, none = 0;
    OK(cudaMalloc(&x, ROWS * 128));
    OK(cudaMalloc(&out, (READERS + 1) * 128));
    OK(cudaMemset(x, 0, ROWS * 128));
    meet<true><<<READERS + 2, 32>>>(x, out);
    OK(cudaMemcpyToSymbol(come, &none, sizeof none));
    OK(cudaMemcpyToSymbol(go, &none, sizeof none));
    OK(cudaMemcpyToSymbol(late, &none, sizeof none));
    meet<false><<<READERS + 2, 32>>>(x, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
