// expect: exit 0
// varies: a kernel polls while the host goes on
// A kernel waits for a flag. What is destroyed, asked or made meanwhile doesn't order it with the kernel that sets the flag.
#include "check.h"

__global__ void waiter(volatile int *flag, int *done)
{
    while (!*flag) {}
    *done = 1;
}

__global__ void setter(volatile int *flag) { *flag = 1; }
__global__ void nothing() {}

static volatile int *flag;
static int *done;
static cudaStream_t waits; // the waiter's stream
static unsigned kind;

static cudaStream_t made()
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, kind));
    return stream;
}

static void begin()
{
    OK(cudaDeviceSynchronize());
    *flag = *done = 0;
    waits = made();
    waiter<<<1, 1, 0, waits>>>(flag, done);
}

static void end(cudaStream_t sets)
{
    setter<<<1, 1, 0, sets>>>(flag);
    OK(cudaDeviceSynchronize());
    CHECK(*done);
    OK(cudaStreamDestroy(sets));
}

static void another_is_destroyed(bool used)
{
    begin();
    cudaStream_t other = made();
    if (used) {
        nothing<<<1, 1, 0, other>>>();
        OK(cudaStreamSynchronize(other));
    }
    OK(cudaStreamDestroy(other));
    end(made());
    OK(cudaStreamDestroy(waits));
}

// The stream made later may have the handle of the one that still waits.
static void its_own_is_destroyed()
{
    begin();
    OK(cudaStreamDestroy(waits));
    end(made());
}

// A kernel that is queued behind the waiter still runs, and the handle means nothing any more.
static void its_own_is_destroyed_full()
{
    begin();
    OK(cudaMemsetAsync(done, 2, sizeof *done, waits));
    OK(cudaStreamDestroy(waits));
    CHECK(cudaStreamQuery(waits) == cudaErrorInvalidResourceHandle);
    CHECK(cudaStreamDestroy(waits) == cudaErrorInvalidResourceHandle);
    nothing<<<1, 1, 0, waits>>>();
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    end(made());
    CHECK(*done == 0x02020202);
}

// A default stream waits for a blocking stream that was destroyed, and asking it orders nothing.
static void default_stream_is_asked()
{
    begin();
    CHECK(cudaStreamQuery(0) == (kind == cudaStreamNonBlocking ? cudaSuccess : cudaErrorNotReady));
    cudaStream_t sets = made();
    setter<<<1, 1, 0, sets>>>(flag);
    OK(cudaStreamDestroy(waits));
    OK(cudaStreamDestroy(sets));
    if (kind == cudaStreamNonBlocking) OK(cudaDeviceSynchronize());
    else OK(cudaStreamSynchronize(0));
    CHECK(*done);
}

static void an_event_is_destroyed()
{
    begin();
    float ms;
    cudaEvent_t event, second, third;
    cudaStream_t other = made(), sets = made();
    OK(cudaEventCreate(&event));
    OK(cudaEventRecord(event, waits));
    OK(cudaStreamWaitEvent(other, event, 0));
    OK(cudaMemsetAsync(done, 2, sizeof *done, other));
    OK(cudaEventDestroy(event));
    CHECK(cudaEventQuery(event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
    OK(cudaEventCreate(&second));
    OK(cudaEventCreate(&third));
    OK(cudaEventSynchronize(second)); // it was never recorded, whatever place it has
    OK(cudaEventRecord(second, sets));
    OK(cudaEventRecord(third, sets));
    OK(cudaStreamDestroy(other));
    end(sets);
    CHECK(*done == 0x02020202);
    OK(cudaEventElapsedTime(&ms, second, third));
    CHECK(ms >= 0);
    OK(cudaEventDestroy(second));
    OK(cudaEventDestroy(third));
    OK(cudaStreamDestroy(waits));
}

int main()
{
    OK(cudaMallocHost((void **)&flag, sizeof *flag));
    OK(cudaMallocHost(&done, sizeof *done));
    for (kind = cudaStreamDefault; kind <= cudaStreamNonBlocking; kind++) {
        another_is_destroyed(false);
        another_is_destroyed(true);
        its_own_is_destroyed();
        its_own_is_destroyed_full();
        default_stream_is_asked();
        an_event_is_destroyed();
    }
    OK(cudaFreeHost((void *)flag));
    OK(cudaFreeHost(done));
}
