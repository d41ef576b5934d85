// expect: invalid-free 9
// varies: the message has an address of the host's
// says: which no cudaMalloc returned
#include "check.h"
int main(void)
{
    void *p = malloc(100);
    OK(cudaFree(NULL));
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    free(p);
    return 0;
}
