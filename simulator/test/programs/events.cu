// expect: exit 0
// The simulated clock: copies take as long as their bytes do, two streams overlap, waits order them.
#include "check.h"

static float between(cudaEvent_t a, cudaEvent_t b)
{
    float ms = -1;
    OK(cudaEventElapsedTime(&ms, a, b));
    return ms;
}

int main()
{
    const size_t bytes = 8 << 20;
    char *host = (char *)calloc(1, bytes), *p;
    cudaEvent_t a, b, c, untimed;
    cudaStream_t s, t;
    OK(cudaMalloc(&p, bytes));
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventCreate(&c));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);     // not recorded

    OK(cudaEventRecord(a));
    OK(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));
    OK(cudaEventRecord(b));
    OK(cudaMemcpy(p, host, bytes / 2, cudaMemcpyHostToDevice));
    OK(cudaEventRecord(c));
    CHECK(cudaEventElapsedTime(&ms, a, c) == cudaErrorNotReady);    // though nothing is left to do: nobody has waited for c
    OK(cudaEventSynchronize(c));
    float whole = between(a, b), half = between(b, c);
    CHECK(whole > 0.5f && whole < 3.0f);                                          // 8 MiB at 6.5 GB/s
    CHECK(half > whole * 0.49f && half < whole * 0.51f);
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventInterprocess) == cudaErrorInvalidValue);
    CHECK(cudaEventElapsedTime(&ms, a, NULL) == cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(untimed));
    CHECK(cudaEventElapsedTime(&ms, a, untimed) == cudaErrorInvalidResourceHandle);

    char *pinned;
    OK(cudaMallocHost(&pinned, bytes));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventRecord(a, s));
    OK(cudaMemcpyAsync(p, pinned, bytes, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(b, s));
    OK(cudaEventRecord(c, t));
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorNotReady);
    CHECK(cudaEventQuery(a) == cudaSuccess && cudaEventQuery(c) == cudaSuccess);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);        // the untimed one's: to be told no is no error
    CHECK(cudaEventQuery(b) == cudaErrorNotReady && cudaGetLastError() == cudaSuccess);
    CHECK(cudaEventQuery(b) == cudaSuccess);                    // to ask moves the clock
    whole = between(a, b);
    CHECK(whole > 0.1f && whole < 0.3f);                        // 8 MiB at 54.7 GB/s
    CHECK(between(c, b) > 0.9f * whole);                        // t did not wait

    OK(cudaEventRecord(a, s));
    OK(cudaMemcpyAsync(p, pinned, bytes, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(b, s));
    OK(cudaStreamWaitEvent(t, b));
    OK(cudaEventRecord(c, t));
    CHECK(cudaStreamQuery(t) == cudaErrorNotReady && cudaStreamQuery(t) == cudaSuccess);
    CHECK(between(b, c) == 0);

    OK(cudaStreamSynchronize(s));                       // who asks in vain goes on at the next end of anything
    OK(cudaMemcpyAsync(p, pinned, bytes / 2, cudaMemcpyHostToDevice, s));
    OK(cudaMemcpyAsync(pinned + bytes / 2, (char *)p + bytes / 2, bytes / 4, cudaMemcpyDeviceToHost, t));
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady && cudaStreamQuery(t) == cudaSuccess);
    CHECK(cudaStreamQuery(s) == cudaErrorNotReady && cudaStreamQuery(s) == cudaSuccess);

    OK(cudaEventRecord(a, s));                          // a wait is for the record before it, whatever is recorded after it
    OK(cudaMemcpyAsync(p, pinned, bytes / 4, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(b, s));
    OK(cudaStreamWaitEvent(t, b));
    OK(cudaEventRecord(c, t));
    OK(cudaMemcpyAsync(p, pinned, bytes / 2, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(b, s));
    OK(cudaStreamSynchronize(t));
    OK(cudaStreamSynchronize(s));
    float first = between(a, c), both = between(a, b);
    CHECK(first > 0 && both > 2.5f * first && both < 3.5f * first);
    // and for none, if the event is recorded only after it
    OK(cudaEventDestroy(b));
    OK(cudaEventCreate(&b));
    OK(cudaMemcpyAsync(p, pinned, bytes / 2, cudaMemcpyHostToDevice, s));
    OK(cudaMemcpyAsync(pinned + bytes / 2, p + bytes / 2, 4, cudaMemcpyDeviceToHost, t));
    OK(cudaStreamWaitEvent(t, b));
    OK(cudaEventRecord(b, s));
    OK(cudaEventRecord(c, t));
    OK(cudaStreamSynchronize(s));
    CHECK(between(b, c) < -0.2f * whole);

    OK(cudaEventRecord(a, s));                          // pageable memory is read before it returns
    OK(cudaMemcpyAsync(p, host, bytes, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(b, s));
    OK(cudaEventRecord(c, t));
    CHECK(cudaStreamQuery(s) == cudaSuccess && between(a, c) > 0.5f && between(b, c) < 0.005f);     // the calls between take time
    OK(cudaFreeHost(pinned));
    OK(cudaStreamSynchronize(t));
    OK(cudaStreamDestroy(s));
    CHECK(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(t));
    OK(cudaEventDestroy(a));
    CHECK(cudaEventRecord(a) == cudaErrorInvalidResourceHandle);
    OK(cudaFree(p));
    return 0;
}
