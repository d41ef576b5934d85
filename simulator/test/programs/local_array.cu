// expect: exit 0
// An array that each thread has to itself, indexed by what only the run knows: local memory.
#include "check.h"

__host__ __device__ int shuffle(int seed)
{
    int slot[16];
    for (int i = 0; i < 16; i++) slot[i] = i;
    for (int i = 0; i < 100; i++) {
        seed = seed * 1103515245 + 12345;
        int a = seed >> 8 & 15, b = seed >> 16 & 15, t = slot[a];
        slot[a] = slot[b];
        slot[b] = t;
    }
    int sum = 0;
    for (int i = 0; i < 16; i++) sum = sum * 3 + slot[i];
    return sum;
}

__global__ void kernel(int *out)
{
    out[threadIdx.x] = shuffle(threadIdx.x);
}

int main()
{
    int *out, host[64];
    OK(cudaMalloc(&out, sizeof host));
    kernel<<<1, 64>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) CHECK(host[i] == shuffle(i));
    OK(cudaFree(out));
    return 0;
}
