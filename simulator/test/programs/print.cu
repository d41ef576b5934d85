// expect: exit 0
// prints: before|block 0 thread 1 x 2.50|block 1 thread 1 x 2.50|between|7 of a string|after|
// Kernels print into the program's own output, when it waits for them.
#include "check.h"

__global__ void say(float x)
{
    if (threadIdx.x == 1)
        printf("block %d thread %d x %.2f\n", blockIdx.x, threadIdx.x, x);
}

__global__ void say_string(const char *) { printf("%d of %s\n", 7, "a string"); }

int main()
{
    printf("before\n");
    say<<<2, 2>>>(2.5f);
    OK(cudaDeviceSynchronize());
    printf("between\n");
    say_string<<<1, 1>>>(nullptr);
    OK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
}
