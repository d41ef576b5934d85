// expect: exit 0
// What looks like a race and is none: barriers in a loop, many readers of one place, neighbours that write bytes
// of one word, lanes of one store that agree, a block's memory used again by the next block.
#include "check.h"

__global__ void careful(int *out)
{
    __shared__ int sums[256];
    __shared__ unsigned char bytes[256];
    __shared__ int last;
    int t = threadIdx.x;
    sums[t] = t;
    bytes[t] = t;
    if (t < 32) last = 7;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = sums[0] + bytes[255 - t] + last;
    __syncthreads();
    sums[t] = 0;
    bytes[255 - t] = 1;
}

int main()
{
    int *out, host[512];
    OK(cudaMalloc(&out, sizeof host));
    careful<<<2, 256>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 512; i++) CHECK(host[i] == 255 * 128 + 255 - i % 256 + 7);
    OK(cudaFree(out));
    return 0;
}
