// expect: race 9
// says: share a word
// An atomic of a byte stores its neighbours with it: no other thread may store one meanwhile.
#include "atomic.h"
#include "check.h"

__global__ void count(unsigned char *counts)
{
    if (threadIdx.x % 2) counts[threadIdx.x] = 1;
    else cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(counts[threadIdx.x]).fetch_add(1);
}

int main()
{
    unsigned char *counts;
    OK(cudaMalloc(&counts, 64));
    OK(cudaMemset(counts, 0, 64));
    count<<<1, 64>>>(counts);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(counts));
    return 0;
}
