// What a program may set of a device, as far as it means something here.

#include "client.h"
#include <cuda_runtime_api.h>

enum { SETTABLE = cudaLimitMallocHeapSize + 1 };

static size_t limits[] = {                      // as an H200 says
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 11796480,
};

static cudaError_t opened(void)
{
    cudaError_t error = client_open();
    return error ? error : client_sticky();
}

// The error of asking for a limit, or of setting it.
static cudaError_t check_limit(enum cudaLimit limit)
{
    if ((size_t)limit < sizeof limits / sizeof *limits && limits[limit])
        return cudaSuccess;
    return limit <= cudaLimitPersistingL2CacheSize ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue;
}

// What a limit becomes that is set to this value: as an H200 rounds them.
static size_t rounded_limit(enum cudaLimit limit, size_t value)
{
    static const size_t step[SETTABLE] = { [cudaLimitStackSize] = 16, [cudaLimitPrintfFifoSize] = 256,
                                           [cudaLimitMallocHeapSize] = 64 << 10 };
    static const size_t least[SETTABLE] = { [cudaLimitPrintfFifoSize] = 512 << 10, [cudaLimitMallocHeapSize] = 4 << 20 };
    size_t rounded = (value + step[limit] - 1) / step[limit] * step[limit];
    return rounded < least[limit] ? least[limit] : rounded;
}

EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = opened();
    if (error)
        return client_done(error);
    error = value ? check_limit(limit) : cudaErrorInvalidValue;
    if (error)
        return client_done(error);
    *value = limits[limit];
    return cudaSuccess;
}

// The simulated device's printf buffer grows as it needs.
EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = opened();
    if (error)
        return client_done(error);
    enum { MOST_STACK = 512 << 10 };            // local memory of a thread (Programming Guide)
    error = limit == cudaLimitStackSize && value > MOST_STACK ? cudaErrorInvalidValue : check_limit(limit);
    bool settable = (unsigned)limit < SETTABLE || limit == cudaLimitDevRuntimePendingLaunchCount;
    if (!error && !settable)
        return client_unsupported("cudaDeviceSetLimit of that limit");
    if (error)
        return client_done(error);
    if ((unsigned)limit < SETTABLE)
        value = rounded_limit(limit, value);
    WireRequest request = client_request(WIRE_LIMIT, "cudaDeviceSetLimit");
    request.limit.limit = limit;
    request.limit.value = value;
    WireReply reply;
    error = client_call(&request, NULL, 0, &reply, NULL, 0);
    if (!error)
        limits[limit] = value;
    return client_done(error);
}
