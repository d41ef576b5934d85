// expect: race 43, race 57, race 57, race 75, race 87
// says: and nothing puts one block before the other
// says: with a flag but no fence between
// An mbarrier tells who waits there what those did who have arrived, but for arrivals or waits that are relaxed and have no fence
// beside them; and nothing of what was done by a block that had its place before.
#include "check.h"

static __device__ unsigned at(void *p) { return (unsigned)__cvta_generic_to_shared(p); }

static __device__ void make(unsigned b, int n)
{
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory");
    __syncthreads();
}

static __device__ void arrive(unsigned b, bool releases)
{
    if (releases) asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
    else asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
}

static __device__ void wait(unsigned b, bool acquires)
{
    unsigned over = 0;
    while (!over && acquires)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(over) : "r"(b) : "memory");
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(over) : "r"(b) : "memory");
}

__global__ void again(int *x, int *out)
{
    __shared__ unsigned long long place;
    unsigned b = at(&place);
    make(b, 32);
    if (blockIdx.x == 0)
        x[threadIdx.x] = 1;
    arrive(b, true);
    wait(b, true);
    if (blockIdx.x == 1)
        out[threadIdx.x] = x[threadIdx.x];                      // 43
}

template <bool releases, bool acquires, bool fenced> __global__ void meet(int *out)
{
    __shared__ unsigned long long place;
    __shared__ int data[64];
    unsigned b = at(&place);
    make(b, 64);
    data[threadIdx.x] = threadIdx.x;
    if (fenced) __threadfence_block();
    arrive(b, releases);
    wait(b, acquires);
    if (fenced) __threadfence_block();
    out[threadIdx.x] = data[63 - threadIdx.x];                  // 57
}

// Who waits for a phase that is over does not hear who has come to the next.
__global__ void early(int *out)
{
    __shared__ unsigned long long place;
    __shared__ int data;
    unsigned b = at(&place);
    if (threadIdx.x == 0) data = 4;
    make(b, 2);
    if (threadIdx.x == 0) {
        arrive(b, true);
        arrive(b, true);
        data = 5;
        arrive(b, true);
    } else if (threadIdx.x >= 32) {
        wait(b, true);
        out[threadIdx.x] = data;                                // 75
    }
}

// Nor does a block hear what the warps of the one before it had heard.
__global__ void next(int *out)
{
    __shared__ unsigned long long place;
    __shared__ int data[64];
    unsigned b = at(&place), t = threadIdx.x;
    make(b, 64);
    data[t] = t;
    if (blockIdx.x == 1) out[t] = data[63 - t];                 // 87
    arrive(b, true);
    wait(b, true);
    if (blockIdx.x == 0) out[64 + t] = data[63 - t];
}

int main()
{
    int *x, *out;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    OK(cudaMalloc(&out, 2 * 64 * sizeof *out));
    again<<<2, 32>>>(x, out);
    meet<true, true, false><<<1, 64>>>(out);
    meet<false, false, true><<<1, 64>>>(out);
    meet<false, true, false><<<1, 64>>>(out);
    meet<true, false, false><<<1, 64>>>(out);
    early<<<1, 64>>>(out);
    next<<<2, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
