// expect: exit 0
// However the host waits, it may then use what the kernel wrote.
#include "check.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

__global__ void hand_over(int *p, volatile int *flag)
{
    p[threadIdx.x] = 8;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

__global__ void count(int *p)
{
    atomicAdd_system(&p[threadIdx.x], 1);
}

// A kernel that tells the host itself, and one that works on the same places at the same time.
static void without_a_call()
{
    int *p, *flag;
    OK(cudaMallocManaged(&p, 64 * sizeof *p));
    OK(cudaMallocManaged(&flag, sizeof *flag));
    hand_over<<<1, 64>>>(p, flag);
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        ;
    for (int i = 0; i < 64; i++)
        CHECK(p[i] == 8);
    OK(cudaDeviceSynchronize());
    count<<<1, 64>>>(p);
    for (int i = 0; i < 64; i++)
        __atomic_fetch_add(&p[i], 2, __ATOMIC_RELAXED);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        CHECK(p[i] == 11);
    OK(cudaFree(p));
    OK(cudaFree(flag));
}

int main()
{
    int *p, *q, x = 5;
    cudaStream_t stream;
    cudaEvent_t event;
    OK(cudaMallocManaged(&p, 64 * sizeof *p));
    OK(cudaMalloc(&q, sizeof *q));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamAttachMemAsync(stream, p));    // changes nothing
    OK(cudaEventCreate(&event));
    fill<<<1, 64>>>(p, 1);
    OK(cudaDeviceSynchronize());
    CHECK(p[3] == 1);
    fill<<<1, 64, 0, stream>>>(p, 2);
    OK(cudaStreamSynchronize(stream));
    CHECK(p[3] == 2);
    fill<<<1, 64, 0, stream>>>(p, 3);
    OK(cudaEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    CHECK(p[3] == 3);
    fill<<<1, 64>>>(p, 4);
    OK(cudaMemcpy(q, &x, sizeof x, cudaMemcpyHostToDevice));
    CHECK(p[3] == 4);
    fill<<<1, 64>>>(p, 5);
    OK(cudaFree(q));
    CHECK(p[3] == 5);
    fill<<<1, 64>>>(p, 1);
    OK(cudaMemset(p, 6, 64 * sizeof *p));       // of managed memory: the host waits
    CHECK(p[3] == 0x06060606);
    fill<<<1, 64>>>(p, 6);
    OK(cudaEventRecord(event, stream)); // this waits for nothing
    OK(cudaStreamDestroy(stream));
    OK(cudaDeviceSynchronize());
    CHECK(p[3] == 6);
    OK(cudaEventDestroy(event));
    OK(cudaFree(p));
    without_a_call();
    return 0;
}
