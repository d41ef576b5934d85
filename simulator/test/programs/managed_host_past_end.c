// expect: bounds 11, signal 11
// says: host code writes managed memory
// The host runs off the end of managed memory, a page beyond.
#include "check.h"

int main(void)
{
    int *p;
    OK(cudaMallocManaged((void **)&p, 4096, cudaMemAttachGlobal));
    p[1023] = 7;
    p[1024] = 8;
    return 0;
}
