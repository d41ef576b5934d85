// expect: trap 13
// says: assertion failed: value != 5 && "no fives"
// stderr: block: [2,1,0], thread: [1,1,0] Assertion `value != 5 && "no fives"` failed.|block: [2,1,0], thread: [3,1,0] Assertion
// Each thread of the warp has its line, and its own block and thread; a function of a template has the compiler's name. The lines
// are there however the program comes to know of the error.
#include "check.h"
#include <assert.h>

template <class T>
struct Checked {
    static __device__ void look(T value)
    {
        assert(value != 5 && "no fives");
    }
};

__global__ void rows(const float *p)
{
    if (blockIdx.x == 2 && blockIdx.y == 1) Checked<float>::look(p[threadIdx.y * blockDim.x + threadIdx.x]);
}

int main()
{
    float *p, host[8] = { 0, 0, 0, 0, 0, 5, 0, 5 };
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    rows<<<dim3(3, 2), dim3(4, 2)>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorAssert);
    CHECK(cudaFree(p) == cudaErrorAssert);
}
