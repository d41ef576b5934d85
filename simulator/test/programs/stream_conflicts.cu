// expect: race 51, race 12, race 17, race 64, race 22
// says: cudaMemcpyAsync reads what thread (0,0,0) of block (0,0,0) of fill(int*, int) writes, at byte 0 of the 4096-byte allocation made at stream_conflicts.cu:43, and nothing puts the two operations in order
// says: of block (0,0,0) of move(int*, int const*) reads what cudaMemcpyAsync writes
// says: of fill(int*, int) also writes what thread (0,0,0) of block (0,0,0) of fill(int*, int) writes
// Work on two streams on the same memory, in five ways that nothing orders, and in others that something does.
#include "check.h"
#include <string.h>

__global__ void fill(int *a, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = value + i;                       // 12
}

__global__ void add(int *to, const int *from)
{
    to[threadIdx.x] += from[threadIdx.x];   // 17
}

__global__ void move(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];    // 22
}

// A stream made before another is destroyed may have its place.
static cudaStream_t renewed(cudaStream_t s)
{
    cudaStream_t fresh;
    OK(cudaStreamDestroy(s));
    OK(cudaStreamCreate(&fresh));
    return fresh;
}

int main()
{
    enum { N = 1024 };
    int *a, *b, *host;
    cudaStream_t one, two, apart;
    cudaEvent_t event;
    OK(cudaMallocHost(&host, N * sizeof *host));
    memset(host, 0, N * sizeof *host);
    OK(cudaMalloc(&b, N * sizeof *b));
    OK(cudaMalloc(&a, N * sizeof *a));
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreate(&two));
    OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaMemset(b, 0, N * sizeof *b));

    fill<<<8, 128, 0, one>>>(a, 1);
    OK(cudaMemcpyAsync(host, a, N * sizeof *a, cudaMemcpyDeviceToHost, two));               // 51: reads
    OK(cudaDeviceSynchronize());
    fill<<<8, 128, 0, one>>>(a, 1);
    fill<<<8, 128, 0, two>>>(a, 2);                                                         // both write
    OK(cudaDeviceSynchronize());
    add<<<1, 32, 0, one>>>(b, a);
    OK(cudaMemsetAsync(a + 31, 0, sizeof *a, two));                                         // over what is read
    OK(cudaMemsetAsync(a + 32, 0, 4 * sizeof *a, two));                                     // beside it
    OK(cudaStreamSynchronize(one));
    OK(cudaStreamSynchronize(two));
    fill<<<1, 32>>>(a, 1);                                                                  // the default stream
    OK(cudaMemsetAsync(a, 0, 4, one));                                                      // waits for it
    OK(cudaMemsetAsync(a, 0, 8, 0));                                                        // and this for that,
    OK(cudaMemsetAsync(a, 0, 4, apart));                                                    // 64: but not this
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyAsync(a, host, 128, cudaMemcpyHostToDevice, one));
    OK(cudaEventRecord(event, one));
    OK(cudaMemcpyAsync(a + 16, host, 64, cudaMemcpyHostToDevice, one));                     // behind the event
    OK(cudaStreamWaitEvent(apart, event, 0));
    add<<<1, 16, 0, apart>>>(b, a);
    move<<<1, 32, 0, apart>>>(b, a);                                                        // 22: too much
    OK(cudaDeviceSynchronize());

    // In order: by an event, by the host that waits for an event or a stream, and by the default stream.
    fill<<<8, 128, 0, one>>>(a, 1);
    OK(cudaEventRecord(event, one));
    OK(cudaStreamWaitEvent(two, event, 0));
    fill<<<8, 128, 0, two>>>(a, 2);
    OK(cudaEventRecord(event, two));
    OK(cudaEventSynchronize(event));
    fill<<<8, 128, 0, apart>>>(a, 3);
    OK(cudaStreamSynchronize(apart));
    fill<<<4, 128, 0, one>>>(a, 4);
    fill<<<4, 128, 0, two>>>(a + N / 2, 4);
    add<<<1, 32>>>(a, b);
    add<<<1, 32, 0, two>>>(a, b);
    two = renewed(two);
    OK(cudaDeviceSynchronize());
    add<<<1, 16, 0, one>>>(b, a);           // beside the next two
    OK(cudaMemsetAsync(a + 16, 0, 64, two));
    OK(cudaMemsetAsync(b + 16, 0, 64, apart));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, a, N * sizeof *a, cudaMemcpyDeviceToHost));
    fill<<<8, 128, 0, apart>>>(a, 5);
    while (cudaStreamQuery(apart) == cudaErrorNotReady) continue;
    add<<<1, 32, 0, two>>>(a, b);
    add<<<1, 32, 0, one>>>(a + 32, b);      // both read b
    OK(cudaDeviceSynchronize());
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaStreamDestroy(apart));
    OK(cudaEventDestroy(event));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFreeHost(host));
    return 0;
}
