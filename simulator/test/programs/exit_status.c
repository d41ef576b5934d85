// expect: exit 42
#include "check.h"
int main(void)
{
    OK(cudaDeviceSynchronize());
    return 42;
}
