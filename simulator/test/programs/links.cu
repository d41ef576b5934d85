// expect: exit 0
// run: --devices 3
// links: kernel 0>1 128, kernel 2>1 128, kernel 1>2 128, copy 1>0 512, copy 0-2 512
// The report tells between which devices bytes moved: for a kernel whose warps load from two of them and store to one,
// and for copies, over the link and by way of the host.
#include "check.h"

enum { N = 128 };

// Even lanes load from device 0, odd ones from device 2: half of each sector's words, but whole sectors.
__global__ void gather(int *to, const int *a, const int *b)
{
    int i = threadIdx.x;
    to[i] = (i % 2 ? b : a)[i];
}

int main()
{
    int *p[3];
    for (int d = 0; d < 3; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&p[d], N * sizeof(int)));
        OK(cudaMemset(p[d], d, N * sizeof(int)));
        OK(cudaDeviceSynchronize());
    }
    OK(cudaSetDevice(1));
    OK(cudaDeviceEnablePeerAccess(0, 0));
    OK(cudaDeviceEnablePeerAccess(2, 0));
    gather<<<1, 32>>>(p[1], p[0], p[2]);
    gather<<<1, 32>>>(p[2], p[1], p[1]);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyPeer(p[0], 0, p[1], 1, N * sizeof(int)));
    OK(cudaMemcpyPeer(p[2], 2, p[0], 0, N * sizeof(int)));
    for (int d = 0; d < 3; d++)
        OK(cudaFree(p[d]));
    return 0;
}
