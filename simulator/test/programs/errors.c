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
    return 0;
}
