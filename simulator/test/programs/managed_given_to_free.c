// expect: bounds 12, signal 11
// says: There free() looks for the C library's notes
// Managed memory is given to the C library, whose free() looks for its notes in front of it.
#include "check.h"

void __libc_free(void *); // free(), also where a sanitizer has one of its own

int main(void)
{
    int *p;
    OK(cudaMallocManaged((void **)&p, 4096, cudaMemAttachGlobal));
    __libc_free(p);
    return 0;
}
