// expect: exit 0
// build: -G
// Without optimisation what lies behind a structure's last member is copied byte by byte when it is passed, though nothing wrote it.
#include "check.h"

struct Chosen { double a, b; char which; };

__device__ __noinline__ double choose(Chosen c, int n) { return c.which > 2 ? c.a + n : c.b; }

__global__ void kernel(double *out, double a, double b)
{
    Chosen c;
    c.a = a, c.b = b, c.which = threadIdx.x;
    out[threadIdx.x] = choose(c, threadIdx.x);
}

int main()
{
    double out[32], *dout;
    OK(cudaMalloc(&dout, sizeof out));
    kernel<<<1, 32>>>(dout, 2.5, 1.5);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) CHECK(out[t] == (t > 2 ? 2.5 + t : 1.5));
    OK(cudaFree(dout));
    return 0;
}
