// expect: race 10
// says: reads what cudaMemcpyAsync writes, at byte 0 of the 1024-byte allocation
// A copy on one stream, which a kernel of that stream and another copy come behind: a kernel of another stream still does not.
#include "check.h"

__global__ void use(int *x, const int *table)
{
    int i = threadIdx.x;
    if (i < 32)
        x[i] ^= table[x[i] % 256];
}

int main()
{
    int *host, *table, *x, *y;
    cudaStream_t a, b;
    OK(cudaMallocHost(&host, 1024));
    OK(cudaMalloc(&table, 1024));
    OK(cudaMalloc(&x, 128));
    OK(cudaMalloc(&y, 128));
    for (int i = 0; i < 256; i++)
        host[i] = i;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaMemcpyAsync(table, host, 1024, cudaMemcpyHostToDevice, a));
    OK(cudaMemcpyAsync(x, host, 128, cudaMemcpyHostToDevice, a));
    use<<<1, 32, 0, a>>>(x, table);
    OK(cudaMemcpyAsync(y, host, 128, cudaMemcpyHostToDevice, b));
    use<<<1, 32, 0, b>>>(y, table);
    OK(cudaDeviceSynchronize());

    use<<<1, 32, 0, b>>>(y, table);     // now it does
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFreeHost(host));
    OK(cudaFree(table));
    OK(cudaFree(x));
    OK(cudaFree(y));
    return 0;
}
