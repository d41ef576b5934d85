// expect: race 9, race 22, race 25, use-after-free 9
// says: does not wait for work that may still use it
// Memory of a pool that is used before it is there, freed while it is used, and used after it is freed. The pointers
// of its own stream are good.
#include "check.h"

__global__ void set(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    cudaStream_t s, t;
    int *p, *q;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaMallocAsync(&p, 128, s));
    set<<<1, 32, 0, s>>>(p);
    set<<<1, 32, 0, t>>>(p);                    // t does not wait for s
    OK(cudaMallocAsync(&q, 128, s));
    OK(cudaMemsetAsync(q, 0, 128, t));          // nor here
    OK(cudaStreamSynchronize(s));
    OK(cudaMemsetAsync(q, 0, 128, t));          // the host has waited for the allocation
    OK(cudaFreeAsync(p, s));                    // which t may still write
    set<<<1, 32, 0, s>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
