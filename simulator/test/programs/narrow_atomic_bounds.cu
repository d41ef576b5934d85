// expect: bounds 9
// says: Make the size a multiple of 4
// An atomic of a byte is one of the word around it. Ten bytes are two words and a half.
#include "atomic.h"
#include "check.h"

__global__ void count(unsigned char *counts)
{
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device>(counts[threadIdx.x % 10]).fetch_add(1);
}

int main()
{
    unsigned char *counts;
    OK(cudaMalloc(&counts, 10));
    OK(cudaMemset(counts, 0, 10));
    count<<<1, 64>>>(counts);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
