// The program whose memory somebody else owns (owner.c): each line that it reads is a call,
// "twice ADDRESS COUNT" (a kernel), "copy" (from the host), "move" (from what is behind it), "set" or
// "free"; it says when the call has returned.
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
        static int host[1 << 20];
        size_t bytes = n * sizeof(int);
        if (call[0] == 'f') cudaFree(p);
        if (call[0] == 'c') cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice);
        if (call[0] == 'm') cudaMemcpy(p, (int *)p + n, bytes, cudaMemcpyDeviceToDevice);
        if (call[0] == 's') cudaMemset(p, 0, bytes);
        puts("returned");
        fflush(stdout);
    }
}
