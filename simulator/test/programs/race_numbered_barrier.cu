// expect: race 18, race 24, race 49, race 48, race 59, exit 0
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

// The second of three warps meets nobody.
__global__ void around(int *out)
{
    __shared__ int data[96];
    int t = threadIdx.x;
    data[t] = t;
    if (t / 32 != 1) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t < 32) out[t] = data[t + 32];
    if (t / 32 == 1) out[t] = data[t - 32];
}

// What warps have met in the blocks before counts for nothing.
__global__ void last_meets_nobody(int *out)
{
    __shared__ int data[96];
    int t = threadIdx.x;
    data[t] = t;
    if (blockIdx.x + 1 < gridDim.x && t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (blockIdx.x + 1 == gridDim.x && t < 64) out[t] = data[63 - t];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    kernel<<<1, 128>>>(out);
    read_on<<<1, 128>>>(out);
    around<<<1, 96>>>(out);
    last_meets_nobody<<<10000, 96>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
