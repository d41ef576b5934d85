// expect: exit 0
// prints: before|block 0 thread 1 x 2.50|block 1 thread 1 x 2.50|between|7 of a string|block 0: a word|block 1: a word|after|
// Kernels print into the program's own output, when it waits for them.
#include "check.h"

__global__ void say(float x)
{
    if (threadIdx.x == 1)
        printf("block %d thread %d x %.2f\n", blockIdx.x, threadIdx.x, x);
}

__global__ void say_string(const char *) { printf("%d of %s\n", 7, "a string"); }

// Words that lie in shared memory, and in a thread's own.
__global__ void say_words(int n)
{
    __shared__ char shared[2];
    char local[6] = "words";
    shared[0] = 'a', shared[1] = 0;
    local[n] = 0;
    printf("block %d: %s %s\n", blockIdx.x, shared, local);
}

int main()
{
    printf("before\n");
    say<<<2, 2>>>(2.5f);
    OK(cudaDeviceSynchronize());
    printf("between\n");
    say_string<<<1, 1>>>(nullptr);
    OK(cudaDeviceSynchronize());
    say_words<<<2, 1>>>(4);
    OK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
}
