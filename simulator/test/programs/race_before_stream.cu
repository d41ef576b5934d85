// expect: race 7, exit 0
// says: and nothing puts the two operations in order
// A fill in the default stream, for which a stream that is only made later does not wait.
#include "check.h"

__global__ void copy(int *to, const int *from)
{   to[threadIdx.x] = from[threadIdx.x];
}

int main()
{
    int *p;
    cudaStream_t stream;
    OK(cudaMalloc(&p, 64 * sizeof *p));
    OK(cudaMemsetAsync(p, 0, 64 * sizeof *p));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    copy<<<1, 32, 0, stream>>>(p + 32, p);
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}
