// expect: api 18, bounds 19, use-after-free 22, bounds 23
// varies: the message has an address of the host's stack
// says: cudaMemPrefetchAsync was given the 400-byte allocation made at managed_prefetch_wrong.cu:11, which is not managed memory
// Only live managed memory can be prefetched.
#include "check.h"

int main()
{
    int *p, *m, *nothing;
    cudaMemLocation device = { cudaMemLocationTypeDevice, 0 };
    OK(cudaMalloc(&p, 400));
    OK(cudaMallocManaged(&m, 400));
    OK(cudaMallocManaged(&nothing, 0));     // as an H200 does: success, and no memory
    CHECK(!nothing);
    CHECK(cudaMemPrefetchAsync(nothing, 0, device, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(m, 0, device, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMallocManaged(&m, 4, 77) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(p, 400, device, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(m, 500, device, 0, 0) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    OK(cudaFree(m));
    CHECK(cudaMemAdvise(m, 400, cudaMemAdviseSetReadMostly, device) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(&device, 4, device, 0, 0) == cudaErrorInvalidValue);
    return 0;
}
