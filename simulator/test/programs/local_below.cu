// expect: bounds 12
// says: read of 4 bytes 4 bytes before the thread's 64 bytes of local memory
// says: The index is below 0.
// A stack of which one more is taken than was put there: the access ends where the array begins.
#include "check.h"

__global__ void unwind(int *out, int pushed, int popped)
{
    int stack[16], top = 0, sum = 0;
    for (int i = 0; i < pushed; i++) stack[top++] = i * popped;
    for (int i = 0; i < popped; i++)
        sum += stack[--top];                // 12
    out[threadIdx.x] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128));
    unwind<<<1, 32>>>(out, 7, 8);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
