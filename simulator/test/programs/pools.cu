// expect: exit 0
// Memory allocated and freed in stream order, and the accounts of its pools.
#include "check.h"

enum { BYTES = 1 << 20 };
static const size_t CHUNK = 32 << 20;

__global__ void set(int *p, int value) { p[threadIdx.x] = value + threadIdx.x; }

static unsigned long long value(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long v = 0;
    OK(cudaMemPoolGetAttribute(pool, which, &v));
    return v;
}

static void in_order(void)
{
    cudaStream_t s, t;
    cudaEvent_t done;
    int *p, *q, host[32];
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&done));
    OK(cudaMallocAsync(&p, sizeof host, s));
    set<<<1, 32, 0, s>>>(p, 5);
    OK(cudaEventRecord(done, s));
    OK(cudaStreamWaitEvent(t, done));
    set<<<1, 32, 0, t>>>(p, 7);                                 // t waits for the allocation,
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, t));
    OK(cudaFreeAsync(p, t));                                    // and frees behind its own use
    OK(cudaStreamSynchronize(t));
    CHECK(host[3] == 10);
    OK(cudaMallocAsync(&q, sizeof host, s));
    OK(cudaMemsetAsync(q, 0, sizeof host, s));
    OK(cudaStreamSynchronize(s));
    set<<<1, 32, 0, t>>>(q, 1);                                 // the host has waited for it
    OK(cudaFree(q));                                            // this waits for all
    OK(cudaMallocAsync(&p, 0, s));
    CHECK(p == NULL);
    OK(cudaFreeAsync(NULL, s));
    CHECK(cudaMallocAsync(&p, 4, (cudaStream_t)77) == cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

static void accounts(void)
{
    cudaMemPool_t pool, now;
    cudaMemPoolProps props = {};
    size_t before, after, total;
    char *p, *q;
    int on = -1;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMallocFromPoolAsync(&p, BYTES, pool, 0));
    OK(cudaMallocFromPoolAsync(&q, CHUNK, pool, 0));
    CHECK(value(pool, cudaMemPoolAttrUsedMemCurrent) == BYTES + CHUNK);
    CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == 2 * CHUNK);
    OK(cudaFreeAsync(q, 0));
    CHECK(value(pool, cudaMemPoolAttrUsedMemCurrent) == BYTES && value(pool, cudaMemPoolAttrUsedMemHigh) == BYTES + CHUNK);
    OK(cudaMemGetInfo(&after, &total));
    CHECK(before - after == 2 * CHUNK);                         // it keeps the memory,
    OK(cudaStreamSynchronize(0));
    CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == CHUNK);     // until somebody waits
    unsigned long long keep = ~0ull, zero = 0, one = 1;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaFreeAsync(p, 0));
    OK(cudaStreamSynchronize(0));
    CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == CHUNK && value(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    OK(cudaMemPoolTrimTo(pool, 1));
    CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == CHUNK);
    OK(cudaMemPoolTrimTo(pool, 0));
    CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    CHECK(value(pool, cudaMemPoolAttrUsedMemHigh) == 0 && value(pool, cudaMemPoolAttrReservedMemHigh) == 2 * CHUNK);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &on));
    CHECK(on == 1);

    OK(cudaDeviceGetMemPool(&now, 0));
    cudaMemPool_t first;
    OK(cudaDeviceGetDefaultMemPool(&first, 0));
    CHECK(now == first && first != pool);
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaMallocAsync(&p, 100, 0));
    CHECK(value(pool, cudaMemPoolAttrUsedMemCurrent) > 0 && value(first, cudaMemPoolAttrUsedMemCurrent) == 0);
    OK(cudaFreeAsync(p, 0));
    cudaMemAccessFlags flags;
    cudaMemLocation here = { cudaMemLocationTypeDevice, 0 };
    OK(cudaMemPoolGetAccess(&flags, pool, &here));
    CHECK(flags == cudaMemAccessFlagsProtReadWrite);
    OK(cudaMemPoolDestroy(pool));
    OK(cudaDeviceGetMemPool(&now, 0));
    CHECK(now == first);
    CHECK(cudaMemPoolDestroy(first) == cudaErrorInvalidValue);
    props.maxSize = BYTES;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMallocFromPoolAsync(&p, BYTES + 1, pool, 0));        // the most is rounded up to whole chunks
    OK(cudaFreeAsync(p, 0));
    CHECK(cudaMallocFromPoolAsync(&p, CHUNK + 1, pool, 0) == cudaErrorMemoryAllocation);
    OK(cudaMalloc(&p, 100));
    OK(cudaFreeAsync(p, 0));                                    // frees any memory of the device
    OK(cudaStreamSynchronize(0));
    OK(cudaMemPoolDestroy(pool));
}

int main()
{
    in_order();
    accounts();
    return 0;
}
