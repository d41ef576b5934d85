// The program whose memory somebody else owns (owner.c): each line that it reads is a call,
// "twice ADDRESS COUNT" or "free ADDRESS COUNT"; it says when the call has returned.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

int main()
{
    char call[16];
    void *p;
    int n;
    cudaFree(0);
    puts("ready");
    fflush(stdout);
    while (scanf("%15s %p %d", call, &p, &n) == 3) {
        if (call[0] == 't') twice<<<(n + 255) / 256, 256>>>((int *)p, n);
        if (call[0] == 'f') cudaFree(p);
        puts("returned");
        fflush(stdout);
    }
}
