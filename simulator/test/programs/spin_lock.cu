// expect: exit 0
// A lock that lanes of one warp, warps of one block and several blocks fight for: everybody gets it in the end.
#include "check.h"

__global__ void add_one(int *lock, volatile int *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int *both, host[2];
    OK(cudaMalloc(&both, sizeof host));
    OK(cudaMemset(both, 0, sizeof host));
    add_one<<<3, 96>>>(both, both + 1);
    OK(cudaMemcpy(host, both, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 0 && host[1] == 3 * 96);
    OK(cudaFree(both));
    return 0;
}
