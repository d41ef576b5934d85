// expect: exit 0
// Lanes that hand values over in shared memory with a __syncwarp() between: the whole warp, part of it, and one part after another.
#include "check.h"

__global__ void steps(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, lane = t % 32;
    s[t] = t;
    __syncwarp();
    int other = s[t ^ 1];
    __syncwarp();
    s[t] += other;
    __syncwarp();
    if (lane < 16) {
        s[t] += s[t + 16];
        __syncwarp(0xffff);
        if (lane < 8) s[t] += s[t + 8];
    }
    out[t] = s[t];
}

// The even lanes of the first twelve meet odd ones, and these all other odd ones.
__global__ void relayed(int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;
    if (lane < 12) __syncwarp(0xfff);
    if (lane % 2) {
        __syncwarp(0xaaaaaaaa);
        out[lane] = s[lane % 12 - 1];
    }
}

int main()
{
    int *out, host[64];
    OK(cudaMalloc(&out, sizeof host));
    steps<<<1, 64>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 8; t++) CHECK(host[t] == 4 * (t + (t ^ 1)) + 96);
    relayed<<<1, 32>>>(out);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int lane = 1; lane < 32; lane += 2) CHECK(host[lane] == lane % 12 - 1);
    OK(cudaFree(out));
    return 0;
}
