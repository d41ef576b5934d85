// expect: race 12, race 48, race 17, race 49
// says: of store(int*, int) also writes what thread (0,0,0) of block (0,0,0) of store(int*, int) writes
// says: cudaMemcpyAsync reads what thread (0,0,0) of block (0,0,0) of add(int*) writes
// A destroyed stream's work isn't ordered with that of a stream made later, even if this one gets the same handle. It is ordered
// once the host has waited, or for a default stream.
#include "check.h"

__global__ void nothing() {}

__global__ void store(int *a, int value)
{
    a[threadIdx.x] = value;                 // 12
}

__global__ void add(int *a)
{
    a[threadIdx.x] += 1;                    // 17
}

static cudaStream_t made(unsigned kind)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, kind));
    return stream;
}

int main()
{
    enum { BYTES = 32 * sizeof(int) };
    int *a, host[32];
    OK(cudaMalloc(&a, BYTES));
    for (unsigned kind = cudaStreamDefault; kind <= cudaStreamNonBlocking; kind++) {
        OK(cudaMemset(a, 0, BYTES));
        OK(cudaDeviceSynchronize());
        cudaStream_t one = made(kind), two;

        store<<<1, 32, 0, one>>>(a, 1);
        OK(cudaStreamDestroy(one));
        two = made(kind);
        nothing<<<1, 1, 0, two>>>();
        if (!kind) store<<<1, 32, 0, two>>>(a, 2);                                          // 12
        else add<<<1, 32, 0, two>>>(a);                                                     // 17
        OK(cudaDeviceSynchronize());
        if (!kind) OK(cudaMemsetAsync(a, 0, BYTES, two));
        else add<<<1, 32, 0, two>>>(a);
        OK(cudaStreamDestroy(two));
        one = made(kind);
        if (!kind) OK(cudaMemsetAsync(a + 4, 0, 4, one));                                   // 48
        else OK(cudaMemcpyAsync(host, a, BYTES, cudaMemcpyDeviceToHost, one));              // 49
        OK(cudaDeviceSynchronize());

        // In order
        store<<<1, 32, 0, one>>>(a, 3);
        OK(cudaStreamSynchronize(one));
        OK(cudaStreamDestroy(one));
        two = made(kind);
        add<<<1, 32, 0, two>>>(a);
        OK(cudaStreamDestroy(two));
        if (kind) OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(host, a, BYTES, cudaMemcpyDeviceToHost));
        CHECK(host[0] == 4 && host[31] == 4);
    }
    OK(cudaFree(a));
}
