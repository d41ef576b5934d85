// expect: race 17, exit 0
// A barrier for one half of the block orders nothing that the other half does.
#include "check.h"

__global__ void kernel(int *out)
{
    __shared__ int data[128];
    int t = threadIdx.x;
    data[t] = t;
    if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = data[63 - t];
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = data[191 - t];
    }
    if (t == 5) out[t] += data[100];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    kernel<<<1, 128>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
