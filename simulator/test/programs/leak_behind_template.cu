// expect: leak 0, leak 0
// build: -O0
// Without -g the program's own function is named, not the template of cuda_runtime.h that all calls for that type share.
#include "check.h"

static float *make()
{
    float *first, *second;
    OK(cudaMallocManaged(&first, 8));
    OK(cudaMallocManaged(&second, 8));
    return first;
}

int main()
{
    float *other;
    OK(cudaMallocManaged(&other, 8));
    return make() == other;
}
