// expect: uninitialized 34
// says: a branch depends on a value
// build: -G
// A store to a bit field loads the rest of its word, which nobody need have written: that is no use of it. What of a structure
// was never stored to still is.
#include "check.h"

struct Fields {
    unsigned a : 5, b : 11, c : 16;
    unsigned long long d : 40, e : 24;
    unsigned char f : 3, g : 5;
    int h : 20, i : 12;
};

__device__ void fill(Fields *x, unsigned n)
{
    x->a = n, x->b = n * 3, x->c = 77, x->d = n + 1, x->e = 9, x->f = n, x->g = n + 2, x->h = -(int)n, x->i = 4;
}

__global__ void sums(unsigned *out, unsigned n)
{
    __shared__ Fields shared;
    Fields own;
    fill(&own, n);
    if (threadIdx.x == 0) fill(&shared, 2 * n);
    __syncthreads();
    out[threadIdx.x] = own.b == 3 * n && shared.h == -2 * (int)n ? own.c + own.a + own.d + own.f + own.h + shared.e : 0;
}

__global__ void unset(unsigned *out, unsigned n)
{
    Fields own;
    own.a = n;
    out[threadIdx.x] = own.e == 9 ? 1 : 2;          // 34
}

int main()
{
    unsigned *out, host[32];
    OK(cudaMalloc(&out, sizeof host));
    sums<<<1, 32>>>(out, 3);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(host[i] == 77 + 3 + 4 + 3 - 3 + 9);
    unset<<<1, 32>>>(out, 3);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
