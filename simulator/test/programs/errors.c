// expect: exit 0
// Names, words, and whose the last error is.
#include "check.h"
#include <pthread.h>
#include <string.h>

static void *other_thread(void *unused)
{
    CHECK(cudaGetLastError() == cudaSuccess);
    return unused;
}

// What an H200 says of calls at the edge.
static void edges(void)
{
    char host[64], *p;
    OK(cudaMallocHost((void **)&p, 0));
    CHECK(!p);
    OK(cudaMallocManaged((void **)&p, 0, cudaMemAttachGlobal));
    CHECK(!p);
    OK(cudaMalloc((void **)&p, 64));
    CHECK(cudaMemcpy2D(host, 8, p, 16, 9, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
    CHECK(cudaMemcpy2D(host, 4, p, 16, 8, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    struct cudaMemcpy3DParms box = { .srcPtr = { host, 4, 4, 2 }, .dstPtr = { p, 8, 8, 2 },
                                     .extent = { 5, 2, 0 }, .kind = cudaMemcpyHostToDevice };
    OK(cudaMemcpy3D(&box));
    box.extent.depth = 1;
    CHECK(cudaMemcpy3D(&box) == cudaErrorInvalidPitchValue);
    OK(cudaFree(p));
    p = malloc(4096);
    CHECK(cudaHostRegister(p, 4096, 0x40) == cudaErrorInvalidValue);
    OK(cudaHostRegister(p, 4096, 0));
    CHECK(cudaHostUnregister(p + 16) == cudaErrorInvalidValue);
    OK(cudaHostUnregister(p));
    CHECK(cudaHostUnregister(p) == cudaErrorHostMemoryNotRegistered);
    free(p);
    CHECK(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
}

int main(void)
{
    void *p;
    pthread_t thread;
    CHECK(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorUnknown), "unknown error") == 0);
    CHECK(strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
    CHECK(cudaMalloc(&p, (size_t)1 << 50) == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&p, (size_t)200 << 30) == cudaErrorMemoryAllocation);
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    OK(cudaDeviceSynchronize());
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    edges();
    return 0;
}
