// expect: api 14, bounds 15, use-after-free 18, bounds 19
// says: cudaMemPrefetchAsync was given the 400-byte allocation made at managed_prefetch_wrong.cu:10, which is not managed memory
// Only live managed memory can be prefetched.
#include "check.h"

int main()
{
    int *p, *m;
    cudaMemLocation device = { cudaMemLocationTypeDevice, 0 };
    OK(cudaMalloc(&p, 400));
    OK(cudaMallocManaged(&m, 400));
    CHECK(cudaMallocManaged(&m, 0) == cudaErrorInvalidValue);
    CHECK(cudaMallocManaged(&m, 4, 77) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(p, 400, device, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(m, 500, device, 0, 0) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    OK(cudaFree(m));
    CHECK(cudaMemAdvise(m, 400, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(&device, 4, device, 0, 0) == cudaErrorInvalidValue);
    return 0;
}
