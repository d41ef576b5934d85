// expect: mbarrier 12, mbarrier 12, exit 0
// says: an mbarrier is initialised where one lies already, which nobody has invalidated
// says: once, before any loop
// says: thread (0,1,0) initialises an mbarrier that thread (0,0,0) has initialised, and nobody has invalidated
// mbarriers that are initialised again: in a loop, and by one thread of each row; and where it is right to, behind an mbarrier.inval, and in
// the next block.
#include "check.h"

__device__ void init(unsigned b, unsigned n, bool first)
{
    if (first) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory");
    else asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(b), "r"(n) : "memory");    // 12
}

__device__ void meet(unsigned b)
{
    asm volatile("{ .reg .pred p; .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];"
                 "L%=: mbarrier.try_wait.shared.b64 p, [%0], s; @!p bra L%=; }" :: "r"(b) : "memory");
}

__global__ void in_a_loop(int *out, bool invalidates)
{
    __shared__ unsigned long long place;
    __shared__ int data[64];
    unsigned b = (unsigned)__cvta_generic_to_shared(&place);
    for (int n = 0; n < 3; n++) {
        if (threadIdx.x == 0) init(b, 64, n == 0 || invalidates);
        __syncthreads();
        data[threadIdx.x] = n;
        meet(b);
        out[64 * blockIdx.x + threadIdx.x] = data[63 - threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0 && invalidates) asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b) : "memory");
    }
}

__global__ void by_rows(int *out)
{
    __shared__ unsigned long long place;
    if (threadIdx.x == 0) init((unsigned)__cvta_generic_to_shared(&place), 64, false);
    __syncthreads();
    meet((unsigned)__cvta_generic_to_shared(&place));
    out[64 * blockIdx.x + 16 * threadIdx.y + threadIdx.x] = 2;
}

int main()
{
    int *out, host[128];
    OK(cudaMalloc(&out, sizeof host));
    for (int n = 0; n < 3; n++) {
        OK(cudaMemset(out, 0, sizeof host));
        if (n < 2) in_a_loop<<<2, 64>>>(out, n == 0);
        else by_rows<<<2, dim3(16, 4)>>>(out);
        OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        for (int t = 0; t < 128; t++) CHECK(host[t] == 2);
    }
    OK(cudaFree(out));
    return 0;
}
