// expect: signal 9
// The program is killed while its kernel runs for ever: the device ends as well.
#include "check.h"
#include <csignal>

__global__ void forever(volatile int *p)
{
    for (int n = 0;; n++)
        *p = n;
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 4));
    OK(cudaMemset(p, 0, 4));
    forever<<<1, 1>>>(p);
    raise(SIGKILL);
    return 0;
}
