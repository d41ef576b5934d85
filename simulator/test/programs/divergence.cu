// expect: exit 0
// Loops whose length each lane decides, branches inside branches, early returns: against the same code on the host.
#include "check.h"

__host__ __device__ int steps(unsigned n, int most)
{
    int count = 0;
    while (n > 1) {
        if (n % 2) {
            n = 3 * n + 1;
            if (n % 5 == 0) count += 7;
        } else {
            n /= 2;
        }
        if (++count > most) return -count;
        switch (n % 4) {
        case 1: count += n % 3; break;
        case 2: continue;
        default: count ^= 1;
        }
    }
    return count;
}

__global__ void walk(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = steps(i + 1, i % 3 ? 1000 : 20);
}

int main()
{
    enum { N = 1000 };
    int *out, host[N];
    OK(cudaMalloc(&out, sizeof host));
    walk<<<(N + 127) / 128, 128>>>(out, N);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(host[i] == steps(i + 1, i % 3 ? 1000 : 20));
    OK(cudaFree(out));
    return 0;
}
