// expect: invalid-free 9
// says: at byte 4 of the 100-byte allocation made at free_inside.c:8
#include "check.h"
int main(void)
{
    char *p;
    int on_stack;
    OK(cudaMalloc((void **)&p, 100));
    CHECK(cudaFree(p + 4) == cudaErrorInvalidValue);
    OK(cudaFree(p));
    (void)on_stack;
    return 0;
}
