// expect: race 19, race 28, race 19, race 49, race 63, exit 0
// says: and nothing puts the two operations in order
// Who sees a flag knows what lies before it: not what other warps of the kernel that set it did with no barrier before the
// flag, and not what a block of its own kernel knows which saw the flag while it did not.
#include "check.h"
#include "atomic.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <int TELLER> __global__ void give(int *data, int *flag)
{
    data[threadIdx.x] = 1;
    if (threadIdx.x == TELLER) Flag(*flag).store(1, cuda::memory_order_release);
}

template <int TELLER> __global__ void take(const int *data, int *flag, int *sum)
{
    while (!Flag(*flag).load(cuda::memory_order_acquire)) {}
    if (threadIdx.x == 0) atomicAdd(sum, data[0] + data[32]);
}

__global__ void one_looks(const int *data, int *flag, int *sum)
{
    if (blockIdx.x == 0) {
        while (!Flag(*flag).load(cuda::memory_order_acquire)) {}
        atomicAdd(sum, data[0]);
    } else {
        atomicAdd(sum, data[0]);
    }
}

__global__ void give_all(int *data, int *flag)
{
    for (int n = 0; n < 4; n++) data[64 * n] = 1;
    Flag(*flag).store(1, cuda::memory_order_release);
}

// Each block looks for itself, and takes what nobody else takes.
__global__ void each_looks(const int *data, int *flag, int *sum)
{
    while (!Flag(*flag).load(cuda::memory_order_acquire)) {}
    atomicAdd(sum, data[64 * blockIdx.x]);
}

// What all take: the last of them does not look.
__global__ void last_looks_not(const int *data, int *flag, int *sum)
{
    while (blockIdx.x < 3 && !Flag(*flag).load(cuda::memory_order_acquire)) {}
    atomicAdd(sum, data[0]);
}

// Who has heard of it tells others of its own flag alone, as long as it releases nothing.
__global__ void hands_on(int *data, int *flag, int *sum)
{
    if (blockIdx.x == 0) {
        data[0] = 2;
        Flag(flag[0]).store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (!Flag(flag[0]).load(cuda::memory_order_acquire)) {}
        Flag(flag[1]).store(1, cuda::memory_order_relaxed);
    } else {
        while (!Flag(flag[1]).load(cuda::memory_order_acquire)) {}
        atomicAdd(sum, data[0]);
    }
}

int main()
{
    int *data, *flag, *sum;
    cudaStream_t stream[3];
    for (int s = 0; s < 3; s++)
        OK(cudaStreamCreate(&stream[s]));
    OK(cudaMalloc(&data, 4 * 64 * sizeof *data));
    OK(cudaMalloc(&flag, 2 * sizeof *flag));
    OK(cudaMalloc(&sum, sizeof *sum));
    OK(cudaMemset(flag, 0, 2 * sizeof *flag));
    OK(cudaMemset(sum, 0, sizeof *sum));
    OK(cudaDeviceSynchronize());
    give<0><<<1, 64, 0, stream[0]>>>(data, flag);
    take<0><<<1, 1, 0, stream[1]>>>(data, flag, sum);
    one_looks<<<2, 1, 0, stream[2]>>>(data, flag, sum);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(flag, 0, 2 * sizeof *flag));
    OK(cudaDeviceSynchronize());
    give<32><<<1, 64, 0, stream[0]>>>(data, flag);
    take<32><<<1, 1, 0, stream[1]>>>(data, flag, sum);
    OK(cudaDeviceSynchronize());
    for (int n = 0; n < 2; n++) {
        OK(cudaMemset(flag, 0, 2 * sizeof *flag));
        OK(cudaDeviceSynchronize());
        give_all<<<1, 1, 0, stream[0]>>>(data, flag);
        if (n) last_looks_not<<<4, 1, 0, stream[1]>>>(data, flag, sum);
        else each_looks<<<4, 1, 0, stream[1]>>>(data, flag, sum);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemset(flag, 0, 2 * sizeof *flag));
    hands_on<<<3, 1>>>(data, flag, sum);
    OK(cudaDeviceSynchronize());
    for (int s = 0; s < 3; s++)
        OK(cudaStreamDestroy(stream[s]));
    OK(cudaFree(data));
    OK(cudaFree(flag));
    OK(cudaFree(sum));
}
