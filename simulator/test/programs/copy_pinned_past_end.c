// expect: bounds 20, bounds 21, bounds 22, bounds 23, bounds 24, bounds 25, bounds 26, bounds 27, bounds 28
// says: cudaMemcpy reads 8192 bytes of pinned memory from byte 0 on, 4096 of them past the end of the 4096-byte allocation made at copy_pinned_past_end.c:16
// says: cudaMemcpy writes 4092 bytes of pinned memory from byte 8 on, 4 of them past the end of the 4096-byte allocation made at copy_pinned_past_end.c:16
// says: cudaMemcpy2D writes 4102 bytes of pinned memory from byte 0 on, 6 of them past the end
// says: cudaMemcpy writes 8192 bytes from byte 0 on, 4092 of them past the end of the 4100-byte allocation
// Copies whose count, or whose rows, run past the end of pinned memory: of each it is the copy that is told of, and the program goes on.
// What is too small on both sides is told of once.
#include "check.h"

int main(void)
{
    char *d, *small, *h, *other, *host = (char *)malloc(8192);
    cudaStream_t s;
    OK(cudaMalloc((void **)&d, 8192));
    OK(cudaMalloc((void **)&small, 4100));
    OK(cudaMallocHost((void **)&h, 4096));
    OK(cudaHostAlloc((void **)&other, 100, cudaHostAllocMapped));
    OK(cudaStreamCreate(&s));
    OK(cudaMemset(d, 7, 8192));
    CHECK(cudaMemcpy(d, h, 8192, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(h + 8, d, 4092, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(h, d, 4097, cudaMemcpyDeviceToHost, s) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyAsync(d, h, (size_t)1 << 37, cudaMemcpyHostToDevice, s) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy2D(h, 2048, d, 2048, 6, 3, cudaMemcpyDefault) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, h, 8192, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(other, host, 101, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(other, h, 101, cudaMemcpyHostToHost) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(small, h, 8192, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(h, d, 4096, cudaMemcpyDeviceToHost));
    CHECK(h[4095] == 7);
    OK(cudaMemcpy(d + 4096, h, 4096, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(other, h + 3996, 100, cudaMemcpyHostToHost));
    CHECK(other[99] == 7);
    OK(cudaStreamDestroy(s));
    OK(cudaFree(d));
    OK(cudaFree(small));
    OK(cudaFreeHost(h));
    OK(cudaFreeHost(other));
    free(host);
    return 0;
}
