// expect: api 15
// says: this launch failed and the kernel never ran: its stream had been destroyed
// says: A launch returns nothing: its error waits for cudaGetLastError, and here nobody asked.
// A launch on a stream that is no more, whose error nobody asks for.
#include "check.h"

__global__ void nothing() {}

int main()
{
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamDestroy(stream));

    nothing<<<1, 32, 0, stream>>>();
}
