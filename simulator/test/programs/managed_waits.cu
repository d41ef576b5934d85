// expect: exit 0
// However the host waits, it may then use what the kernel wrote.
#include "check.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
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
    return 0;
}
