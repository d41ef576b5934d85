// expect: race 7, exit 0
// run: --devices 2
// says: and the two are on different devices
// Two devices count in one word, with an atomic that is one for its own device only; with that of the whole machine it is right.
#include "check.h"

__global__ void count(int *sum) { atomicAdd(sum, 1); }
__global__ void count_all(int *sum) { atomicAdd_system(sum, 1); }

int main()
{
    int *sums, host[2];
    OK(cudaMalloc(&sums, sizeof host));
    OK(cudaMemset(sums, 0, sizeof host));
    OK(cudaDeviceSynchronize());
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        if (d)
            OK(cudaDeviceEnablePeerAccess(0, 0));
        count<<<1, 32>>>(sums);
    }
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        count_all<<<1, 32>>>(sums + 1);
    }
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[1] == 64);
    OK(cudaFree(sums));
}
