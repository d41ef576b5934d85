// expect: exit 0
// migrations: DtoH cpu-fault 0 4, HtoD prefetch 262144 0, DtoH prefetch 65536 0, HtoD gpu-fault 65536 1
// A prefetch moves pages before anybody faults on them, and says so when it is asked.
#include "check.h"

enum { N = 1 << 16 };                   // 256 KiB: four groups

__global__ void add(int *p, int what)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += what;
}

static int attribute(const void *p, size_t bytes, enum cudaMemRangeAttribute which)
{
    int value = 99;
    OK(cudaMemRangeGetAttribute(&value, sizeof value, which, p, bytes));
    return value;
}

int main()
{
    int *p;
    cudaMemLocation device = { cudaMemLocationTypeDevice, 0 }, host = { cudaMemLocationTypeHost, 0 };
    OK(cudaMallocManaged(&p, N * sizeof *p));
    CHECK(attribute(p, N * sizeof *p, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
    for (int i = 0; i < N; i++)
        p[i] = i;
    OK(cudaMemPrefetchAsync(p, N * sizeof *p, device, 0, 0));
    CHECK(attribute(p, N * sizeof *p, cudaMemRangeAttributeLastPrefetchLocation) == 0);
    add<<<N / 256, 256>>>(p, 1);
    OK(cudaMemPrefetchAsync(p, 1 << 16, host, 0, 0));
    OK(cudaDeviceSynchronize());
    CHECK(attribute(p, 1 << 16, cudaMemRangeAttributeLastPrefetchLocationId) == cudaCpuDeviceId);
    CHECK(attribute(p, N * sizeof *p, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
    for (int i = 0; i < N / 4; i++)
        CHECK(p[i] == i + 1);
    add<<<N / 256, 256>>>(p, 1);
    OK(cudaDeviceSynchronize());

    cudaMemLocation none = { cudaMemLocationTypeDevice, 1 };
    CHECK(cudaMemPrefetchAsync(p, 4, none, 0, 0) == cudaErrorInvalidDevice);
    CHECK(cudaMemPrefetchAsync(p, 4, device, 1, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(p, 4, device, 0, (cudaStream_t)77) == cudaErrorInvalidResourceHandle);
    OK(cudaFree(p));
    return 0;
}
