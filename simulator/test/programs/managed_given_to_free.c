// expect: bounds 10, signal 11
// says: There free() looks for the C library's notes
// Managed memory is given to the C library, whose free() looks for its notes in front of it.
#include "check.h"

int main(void)
{
    int *p;
    OK(cudaMallocManaged((void **)&p, 4096, cudaMemAttachGlobal));
    free(p);
    return 0;
}
