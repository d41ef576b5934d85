// expect: signal 11
// A signal that was sent has no instruction that faults again: it ends the program all the same.
#include "check.h"
#include <signal.h>

int main(void)
{
    int *p;
    OK(cudaMalloc((void **)&p, 40));
    OK(cudaFree(p));
    raise(SIGSEGV);
    printf("the signal was swallowed\n");
    return 0;
}
