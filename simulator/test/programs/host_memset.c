// expect: host-access 10, signal 11
// says: host code writes
#include "check.h"
#include <string.h>

int main(void)
{
    int *p;
    OK(cudaMalloc((void **)&p, 4000));
    memset(p, 1, 4000);
    return 0;
}
