// expect: race 18, race 24, exit 0
// A barrier for one half of the block orders nothing that the other half does, nor what is done behind it, be it that a warp reads on
// where it has read before.
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

static __device__ int read(const int *s)
{
    int x;
    asm volatile("ld.shared.s32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(s)));
    return x;
}

__global__ void read_on(int *out)
{
    __shared__ int data[2];
    int t = threadIdx.x, sum = 0;
    if (t < 2) data[t] = t;
    __syncthreads();
    if (t < 32) sum = read(&data[0]);
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t < 32) sum += read(&data[1]);
    if (t == 32) data[1] = 5;
    out[t] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    kernel<<<1, 128>>>(out);
    read_on<<<1, 128>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
