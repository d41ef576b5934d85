// The limits of a device (cudaDeviceSetLimit).

#include "capture.h"
#include <string.h>
#include <cuda_runtime_api.h>

enum { LIMITS = cudaLimitPersistingL2CacheSize + 1 };

static const size_t at_first[LIMITS] = {
    // as on an H200
    [cudaLimitStackSize] = 1024,           [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8 << 20,   [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 11796480,
};

static cudaError_t opened(void)
{
    cudaError_t error = client_open();
    return error ? error : client_sticky();
}

static size_t limits[LIMITS];
static bool are_set; // false: limits[] is not in use yet, and the initial limits hold

static size_t *limit_at(enum cudaLimit limit)
{
    if (!are_set) memcpy(limits, at_first, sizeof limits);
    are_set = true;
    return &limits[limit];
}

void client_limits_reset(void) { are_set = false; }

// The error of getting or setting the limit.
static cudaError_t check_limit(enum cudaLimit limit)
{
    if (limit == cudaLimitDevRuntimeSyncDepth) return cudaErrorUnsupportedLimit;
    return (unsigned)limit <= cudaLimitPersistingL2CacheSize ? cudaSuccess : cudaErrorInvalidValue;
}

// The value that a limit gets when the program sets it to `value`: rounded up as on an H200.
static size_t rounded_limit(enum cudaLimit limit, size_t value)
{
    static const size_t step[LIMITS] = { [cudaLimitStackSize] = 16,
                                         [cudaLimitPrintfFifoSize] = 256,
                                         [cudaLimitMallocHeapSize] = 64 << 10,
                                         [cudaLimitDevRuntimePendingLaunchCount] = 1,
                                         [cudaLimitMaxL2FetchGranularity] = 1,
                                         [cudaLimitPersistingL2CacheSize] =
                                             CLIENT_PERSISTING_STEP };
    static const size_t least[LIMITS] = { [cudaLimitPrintfFifoSize] = 512 << 10,
                                          [cudaLimitMallocHeapSize] = 4 << 20,
                                          [cudaLimitDevRuntimePendingLaunchCount] = 32 };
    size_t rounded = (value + step[limit] - 1) / step[limit] * step[limit];
    return rounded < least[limit] ? least[limit] : rounded;
}

EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = opened();
    if (error) return client_done(error);
    error = value ? check_limit(limit) : cudaErrorInvalidValue;
    if (error) return client_done(error);
    *value = *limit_at(limit);
    return cudaSuccess;
}

// Some limits have no effect: the simulated device's printf buffer grows as needed, and its L2
// always keeps the lines that were used last.
EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = opened();
    if (error) return client_done(error);
    static const size_t most[LIMITS] = {
        [cudaLimitStackSize] = 512 << 10, // local memory of a thread (Programming Guide)
        [cudaLimitMaxL2FetchGranularity] = 128,
        [cudaLimitPersistingL2CacheSize] = CLIENT_PERSISTING_STEP * 10
    };
    error = capture_forbids("cudaDeviceSetLimit");
    if (!error) error = check_limit(limit);
    if (!error && most[limit] && value > most[limit])
        error = client_refuse("cudaDeviceSetLimit", cudaErrorInvalidValue,
                              "Each limit has a largest value.", "Ask for no more than that.",
                              "asks for %zu, and this limit is at most %zu", value, most[limit]);
    if (error) return client_done(error);
    value = rounded_limit(limit, value);
    WireRequest request = client_request(WIRE_LIMIT, "cudaDeviceSetLimit");
    request.limit.limit = limit;
    request.limit.value = value;
    WireReply reply;
    error = client_call(&request, NULL, 0, &reply, NULL, 0);
    if (!error) *limit_at(limit) = value;
    return client_done(error);
}
