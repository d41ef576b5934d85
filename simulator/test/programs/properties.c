// expect: exit 0
#include "check.h"
#include <string.h>

static int attribute(enum cudaDeviceAttr which)
{
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main(void)
{
    struct cudaDeviceProp p;
    int count = 0, version = 0;
    size_t free_bytes, total;
    void *q;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDeviceProperties(&p, 0));
    OK(cudaRuntimeGetVersion(&version));
    CHECK(count == 1 && version == CUDART_VERSION);
    CHECK(strcmp(p.name, "NVIDIA H200") == 0 && p.major == 9 && p.minor == 0);
    CHECK(p.multiProcessorCount == 132 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024);
    CHECK(attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount);
    CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == (int)p.sharedMemPerBlockOptin);
    // Each is known: what this device does not have is 0. What is no attribute is refused.
    for (int which = cudaDevAttrMaxThreadsPerBlock; which <= cudaDevAttrMaxTexture1DMipmappedWidth; which++)
        CHECK(which == 44 || attribute((enum cudaDeviceAttr)which) >= 0);
    CHECK(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) == 2);
    CHECK(cudaDeviceGetAttribute(&version, (enum cudaDeviceAttr)0, 0) == cudaErrorInvalidValue);
    CHECK(cudaDeviceGetAttribute(&version, cudaDevAttrMax, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(total == p.totalGlobalMem && free_bytes == total);
    OK(cudaMalloc(&q, 1000));
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes <= total - 1000);
    struct cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, (char *)q + 4));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    OK(cudaPointerGetAttributes(&attributes, &p));
    CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.hostPointer == &p && !attributes.devicePointer);
    OK(cudaFree(q));
    OK(cudaMallocHost(&q, 1000));
    OK(cudaPointerGetAttributes(&attributes, q));
    CHECK(attributes.type == cudaMemoryTypeHost);
    OK(cudaFreeHost(q));
    return 0;
}
