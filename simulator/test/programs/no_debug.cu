// expect: leak 0
// build: -O2
// Without -g no line is known, and that is no reason to fail.
#include "check.h"

int main()
{
    void *p;
    OK(cudaMalloc(&p, 4));
    return 0;
}
