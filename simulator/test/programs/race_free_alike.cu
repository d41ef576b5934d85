// expect: exit 0
// All lanes of one store write one place, all of them the same value, which is not what stands there: bytes, by so many blocks
// that they are spread over the host's cores.
#include "check.h"

enum { BLOCKS = 4096 };

__global__ void all_alike(char *out, const char *in) { out[blockIdx.x] = in[threadIdx.x]; }

int main()
{
    char *bytes;
    OK(cudaMalloc(&bytes, BLOCKS + 32));
    OK(cudaMemset(bytes, 0, BLOCKS));
    OK(cudaMemset(bytes + BLOCKS, 3, 32));
    all_alike<<<BLOCKS, 32>>>(bytes, bytes + BLOCKS);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(bytes));
    return 0;
}
