// expect: host-access 12, signal 11
// says: host code reads
#include "check.h"

int main(void)
{
    int *p;
    OK(cudaMalloc((void **)&p, 40));
    OK(cudaMemset(p, 0, 40));
    printf("about to read\n");
    fflush(stdout);
    printf("%d\n", p[3]);
    return 0;
}
