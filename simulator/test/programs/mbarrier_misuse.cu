// expect: mbarrier 32, mbarrier 32, mbarrier 18, mbarrier 34, race 40, hang 38
// says: no mbarrier lies here: it was not initialised
// says: no mbarrier lies here: it was invalidated
// says: 64 arrivals at an mbarrier whose phase waits for 1 more, of 65, inlined at 33
// says: an arrival that must not complete a phase does
// says: no warp can go on: the mbarrier that it waits at misses 1 of 65 arrivals
// says: thread (0,0,0) reads what thread (63,0,0) writes in shared memory, with no barrier between
// mbarriers that nobody made, that are no more, at which too many arrive, whose phase has one arrival too few; and data that
// is read before the phase is over behind which it is written.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
typedef unsigned long long u64;

__device__ u64 arrive(unsigned b, int n)
{
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(b), "r"(n) : "memory");
    return state;
}

__global__ void misuse(int what, int *out)
{
    __shared__ u64 place;
    __shared__ int data[64];
    unsigned b = (unsigned)__cvta_generic_to_shared(&place), over = 0;
    int t = threadIdx.x;
    if (t == 0 && what) asm volatile("mbarrier.init.shared.b64 [%0], 65;" :: "r"(b) : "memory");
    if (t == 0 && what == 1) asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b) : "memory");
    __syncthreads();
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    if (what == 2 && t == 32) arrive(b, 64);
    if (what == 3 && t == 32) asm volatile("mbarrier.arrive.noComplete.shared.b64 _, [%0], 1;" :: "r"(b) : "memory");
    data[t] = t;
    if (what == 4 && t == 0) arrive(b, 1);
    while (!over) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(over) : "r"(b), "l"(state) : "memory");
    }
    out[t] = data[63 - t];
}

int main()
{
    for (int what = 0; what < 6; what++) {
        int status, *out;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            continue;
        }
        OK(cudaMalloc(&out, 64 * sizeof *out));
        misuse<<<1, 64>>>(what, out);
        CHECK((cudaDeviceSynchronize() == cudaSuccess) == (what == 4));
        if (what == 4) OK(cudaFree(out));
        exit(0);
    }
    return 0;
}
