// expect: exit 0
// On the simulated clock a kernel that faults is slower than one whose pages were fetched before, and that one is
// slower again when its pages are on the device.
#include "check.h"

enum { N = 1 << 20 };

__global__ void add(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x]++;
}

static float milliseconds(int *p, bool prefetch)
{
    cudaEvent_t from, to;
    float time;
    OK(cudaEventCreate(&from));
    OK(cudaEventCreate(&to));
    OK(cudaEventRecord(from));
    if (prefetch)
        OK(cudaMemPrefetchAsync(p, N * sizeof *p, { cudaMemLocationTypeDevice, 0 }, 0, 0));
    add<<<N / 256, 256>>>(p);
    OK(cudaEventRecord(to));
    OK(cudaEventSynchronize(to));
    OK(cudaEventElapsedTime(&time, from, to));
    OK(cudaEventDestroy(from));
    OK(cudaEventDestroy(to));
    return time;
}

static void touch(int *p)
{
    for (int i = 0; i < N; i++)
        p[i]++;
}

int main()
{
    int *p;
    OK(cudaMallocManaged(&p, N * sizeof *p));
    touch(p);
    float faults = milliseconds(p, false), resident = milliseconds(p, false);
    touch(p);
    float prefetched = milliseconds(p, true);
    CHECK(faults > 2 * prefetched);
    CHECK(prefetched > 2 * resident);
    for (int i = 0; i < N; i++)
        CHECK(p[i] == 5);
    OK(cudaFree(p));
    return 0;
}
