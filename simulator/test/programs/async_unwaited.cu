// expect: unfinished-copy 34, race 34
// says: reads shared memory that an asynchronous copy of thread (0,0,0) goes to, which that has not waited for
// says: reads what thread (0,0,0) writes in shared memory, with no barrier between
// prints: old 1
// Asynchronous copies with mbarriers: read behind one at which the copies do not arrive, so that what is there is old; and
// begun again where others still read, with no arrival of theirs between.
#include "check.h"

__device__ void copy(unsigned to, const int *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(from) : "memory");
}

__device__ void wait(unsigned b, int phase)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(b), "r"(phase) : "memory");
}

__global__ void early(const int *in, int *out, bool waits)
{
    __shared__ unsigned long long place;
    __shared__ int s[64];
    unsigned b = (unsigned)__cvta_generic_to_shared(&place), to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b) : "memory");
    s[t] = 1;
    __syncthreads();
    copy(to, in + t);
    if (waits) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(b) : "memory");
    else asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
    wait(b, 0);
    if (t == 32) out[0] = s[0];
    if (waits && t == 0) copy(to, in + 1);
}

int main()
{
    int *in, *out;
    OK(cudaMallocManaged(&in, 64 * sizeof *in));
    OK(cudaMallocManaged(&out, sizeof *out));
    for (int i = 0; i < 64; i++) in[i] = 100 + i;
    early<<<1, 64>>>(in, out, false);
    OK(cudaDeviceSynchronize());
    printf("old %d\n", *out);
    early<<<1, 64>>>(in, out, true);
    OK(cudaDeviceSynchronize());
    CHECK(*out == 100);
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
