// expect: bounds 33
// Variables of the device: initialisers, copies either way, addresses; the last copy is one element too long.
#include "check.h"

__constant__ float scale[4] = { 1, 2, 3, 4 };
__device__ int counter = 5;
__device__ int zeros[3];

__global__ void use(float *out)
{
    out[threadIdx.x] = scale[threadIdx.x];
    if (threadIdx.x == 0)
        counter += 1;
}

int main()
{
    float *out, host[4], twice[4] = { 2, 4, 6, 8 };
    int count, nothing[3] = { 9, 9, 9 };
    size_t size;
    void *address;
    OK(cudaMalloc(&out, sizeof host));
    use<<<1, 4>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1 && host[3] == 4);
    OK(cudaMemcpyToSymbol(scale, twice, sizeof twice));
    use<<<1, 4>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 2 && host[3] == 8);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    OK(cudaMemcpyFromSymbol(nothing, zeros, sizeof nothing));
    CHECK(count == 7 && nothing[0] == 0 && nothing[2] == 0);
    CHECK(cudaMemcpyToSymbol(scale, twice, sizeof twice, sizeof(float)) == cudaErrorInvalidValue);
    OK(cudaGetSymbolSize(&size, scale));
    OK(cudaGetSymbolAddress(&address, scale));
    CHECK(size == sizeof scale && address != nullptr);
    OK(cudaFree(out));
    return 0;
}
