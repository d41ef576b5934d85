// expect: race 15, race 23
// says: did not come to the barrier at which the others have met
// A warp that has ended came to no barrier of those that go on without it: nothing orders what it did last. What it did before it
// met them is in order, and before it told them that it had come.
#include "check.h"

__global__ void without(int *out)
{
    __shared__ int data[96];
    int t = threadIdx.x;
    data[t] = t;
    if (t >= 64) return;
    __syncthreads();
    __syncthreads();
    out[t] = data[t + 32];                                      // 15
}

__global__ void in_global(int *out, int *global)
{
    int t = threadIdx.x;
    global[t] = t;
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t < 64) out[t] = global[t + 32];                        // 23
}

__global__ void with(int *out, int *global)
{
    __shared__ int data[96], more[32];
    int t = threadIdx.x;
    data[t] = global[t];
    __syncthreads();
    if (t >= 64) {
        more[t - 64] = t;
        asm volatile("bar.arrive 1, 96;" ::: "memory");
        return;
    }
    __syncthreads();
    out[t] = data[95 - t];
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[t] += more[t % 32];
    __syncthreads();
    more[t % 32] = 1;
}

int main()
{
    int *out, *global;
    OK(cudaMalloc(&out, 96 * sizeof *out));
    OK(cudaMalloc(&global, 96 * sizeof *global));
    without<<<1, 96>>>(out);
    in_global<<<1, 96>>>(out, global);
    OK(cudaDeviceSynchronize());
    with<<<1, 96>>>(out, global);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    OK(cudaFree(global));
    return 0;
}
