// expect: leak 9
// says: 400 bytes
#include "check.h"

int main(void)
{
    void *kept, *lost;
    OK(cudaMalloc(&kept, 100));
    OK(cudaMalloc(&lost, 400));
    OK(cudaFree(kept));
    return 0;
}
