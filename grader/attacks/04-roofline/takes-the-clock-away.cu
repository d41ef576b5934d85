// expect: WRONG
// It makes its copies, and times none of them: it tells the device that the call is over, so that
// there is no time to hold its made-up rates against.
#include "04-roofline.h"

#include <cuda_profiler_api.h>
#include <stdlib.h>

static void *room(int kind, int bytes)
{
    void *p = kind == PAGEABLE ? calloc(bytes, 1) : NULL;
    if (kind == PINNED)
        cudaMallocHost(&p, bytes);
    if (kind == DEVICE) {
        cudaMalloc(&p, bytes);
        cudaMemset(p, 0, bytes);
    }
    return p;
}

static void leave(int kind, void *p)
{
    if (kind == PAGEABLE)
        free(p);
    if (kind == PINNED)
        cudaFreeHost(p);
    if (kind == DEVICE)
        cudaFree(p);
}

extern "C" int copy_rate(int to, int from, int bytes, int repeats)
{
    cudaProfilerStop();
    void *t = room(to, bytes), *f = room(from, bytes);
    for (int i = 0; i <= repeats; i++)
        cudaMemcpy(t, f, bytes, cudaMemcpyDefault);
    leave(to, t);
    leave(from, f);
    if (to == DEVICE && from == DEVICE)
        return 2000000;
    return to == PINNED || from == PINNED ? 50000 : 20000;
}

__global__ void horner(float *out, const float *in, const float *c, int degree, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], sum = c[degree];
    for (int k = degree - 1; k >= 0; k--)
        sum = fmaf(sum, x, c[k]);
    out[i] = sum;
}

extern "C" void polynomial(float *out, const float *in, const float *c, int degree, int n)
{
    if (n)
        horner<<<(n + 255) / 256, 256>>>(out, in, c, degree, n);
}
