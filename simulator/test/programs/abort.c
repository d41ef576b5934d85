// expect: signal 6
#include "check.h"
int main(void)
{
    void *p;
    OK(cudaMalloc(&p, 1));
    abort();
}
