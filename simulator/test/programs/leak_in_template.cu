// expect: leak 10
// The line is the program's own, not that of the wrapper that cuda_runtime.h inlines.
#include <vector>
#include "check.h"

static float *make(size_t n)
{
    float *p;
    n *= sizeof *p;
    if (cudaMalloc(&p, n) != cudaSuccess)
        exit(1);
    return p;
}

int main()
{
    std::vector<float *> lost;
    lost.push_back(make(10));
    return lost[0] == nullptr;
}
