// expect: hang 15
// says: all that have not ended wait for something that nobody does any more
// The library's own thread for host functions is there, and idle: it is none that could set the flag, and the report of the
// deadlock does not wait for it (ten seconds and more).
#include "check.h"
#include <time.h>

static void nothing(void *)
{
}

__global__ void wait(volatile int *flag)
{
    int *p = (int *)flag;
    while (*flag == 0)
        ;
    *p = 2;
}

int main()
{
    int *flag;
    timespec begin, end;
    OK(cudaMalloc(&flag, sizeof *flag));
    OK(cudaMemset(flag, 0, sizeof *flag));
    OK(cudaLaunchHostFunc(0, nothing, NULL));
    OK(cudaDeviceSynchronize());
    wait<<<1, 1>>>(flag);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    clock_gettime(CLOCK_MONOTONIC, &end);
    CHECK(end.tv_sec - begin.tv_sec < 9);
    return 0;
}
