// expect: signal 11
// A crash that is none of the device's business stays one, and nothing is said of leaks.
#include "check.h"

int main(void)
{
    int *p, *volatile nothing = NULL;
    OK(cudaMalloc((void **)&p, 4));
    return *nothing;
}
